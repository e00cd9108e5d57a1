// A small artifact with open sizes for tests, whose kernels are those of the sample artifact.
#ifndef ATTUNE_ARTIFACT_TESTING_OPEN_SAMPLE_H_
#define ATTUNE_ARTIFACT_TESTING_OPEN_SAMPLE_H_

#include "artifact/testing/sample_artifact.h"

namespace attune::testing {

inline constexpr int64_t kMaxOpenRows = 64;
inline constexpr int64_t kMaxOpenColumns = 32;
inline constexpr int64_t kMaxOpenIndex = 100;

// The sizes: "rows" (n) from 0 to kMaxOpenRows, and "columns" (s) from 1 to kMaxOpenColumns.

// Indices of the tensors.
enum OpenTensor : uint32_t {
  kOpenX,        // input "x", f32[n, 4]
  kOpenMatrix,   // input "matrix", f32[s, s]
  kOpenVectors,  // input "vectors", f32[n, s]
  kOpenIndices,  // input "indices", i64[n]; none is over kMaxOpenIndex
  kOpenTwice,    // f32[n, 4] = 2x, in one block with the next
  kOpenFour,     // f32[n, 4] = 4x, after being 3x
  kOpenProduct,  // f32[n, s] = vectors * matrix
  kOpenCounter,  // output "counter", i64[]; 5 after the loop
  kOpenDone,     // bool[]
  kOpenLimits,   // constant: the bounds of the indices
  kOpenFlat,     // output "flat", f32[4n] = 4x
  kOpenResult,   // output "result", f32[n, s], a copy of the product
  kNumOpenTensors,
};

// Indices of the numbers; those of the sizes have the indices of the sizes.
enum OpenNumber : uint32_t {
  kRowsNumber,
  kColumnsNumber,
  kXBytes,       // 16n
  kMatrixBytes,  // 4ss
  kVectorBytes,  // 4ns
  kIndexBytes,   // 8n
  kFourOffset,   // 16n, rounded up to a multiple of 64
  kPairBytes,    // twice that
  kEightBytes,
  kOneByte,
  kFlatSize,  // 4n
  kNumOpenNumbers,
};

// Index of the block that kOpenTwice and kOpenFour share.
inline constexpr uint32_t kPairBlock = 4;

// A program that uses every opcode but a jump, for any processor of this machine's architecture.
SampleArtifact MakeOpenSampleArtifact();

// The same, with a program before it for n = 3 and s = 2 alone, whose outputs are others: flat = x,
// result = vectors, counter = 0.
SampleArtifact MakeOpenSampleArtifactWithLikelySizes();

}  // namespace attune::testing

#endif  // ATTUNE_ARTIFACT_TESTING_OPEN_SAMPLE_H_
