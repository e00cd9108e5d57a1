// A small artifact for tests, whose kernels are ordinary functions of this program.
#ifndef ATTUNE_ARTIFACT_TESTING_SAMPLE_ARTIFACT_H_
#define ATTUNE_ARTIFACT_TESTING_SAMPLE_ARTIFACT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "artifact/artifact.h"

namespace attune::testing {

inline constexpr int kRows = 8;
inline constexpr int kColumns = 48;

// Indices of the kernels.
enum SampleKernel : uint32_t {
  kAdd,           // (a, b, out) out = a + b, split by rows; out may be a
  kKeepRows,      // (in, out) the rows whose element 0 is positive; dims[0] = how many
  kKeepColumns,   // (in, out) the columns whose element in row 0 is positive; dims[1] = their number
  kStart,         // (counter) counter = 0
  kStep,          // (counter, done) counter += 1, done = counter >= 5
  kFail,          // () returns 7
  kFillScratch,   // (in, out) out = in, copied by rows through scratch; returns 8 if scratch is not aligned
  kAddOpen,       // (a, b, out) over [n, 4]: out = a + b, split by rows; out may be a. Sizes: (n)
  kMultiplyOpen,  // (v, m, out) out[n, s] = v[n, s] * m[s, s], split by rows, through scratch. Sizes: (n, s)
  kNumSampleKernels,
};

// Indices of the tensors.
enum SampleTensor : uint32_t {
  kX,        // input, f32[kRows, kColumns]
  kW,        // constant w[i, j] = j - i, same shape
  kSum,      // output "sum" = x + w
  kRowsOut,  // output "rows", f32[n <= kRows, kColumns]
  kColsOut,  // output "columns", f32[kRows, m <= kColumns]
  kCounter,  // output "counter", i64[]; 5 after the loop
  kDone,     // bool[]
  kCopied,   // output "copied", the columns copied into a wider tensor f32[kRows, k <= 2 * kColumns]
  kThrough,  // output "through", the sum copied through scratch
  kNumSampleTensors,
};

// Owns the bytes that contents() refers to.
struct SampleArtifact {
  Manifest manifest;  // with one variant that has one program
  std::vector<std::byte> code;
  std::vector<std::byte> constants;

  Variant& variant() { return manifest.variants.front(); }
  Program& program() { return variant().programs.front(); }
  ArtifactContents contents() const { return {manifest, code, constants}; }
  // The bytes of the file; aborts if the writer refuses to write it.
  std::string Write() const;
};

// A program that uses every opcode, for any processor of this machine's architecture.
SampleArtifact MakeSampleArtifact();

// The same with compressed constants.
SampleArtifact MakeCompressedSampleArtifact();

// The same for two processors, of which the first does not exist; with prepacked weights and a second
// program, for an input x of shape f32[kRows * kColumns].
SampleArtifact MakeSampleArtifactOfVariants();

// Recomputes the checksums of header, manifest, code and constants if the header's sections lie inside the
// file, so that a damaged file gets past them. Also recomputes the checksum of the kernels' interfaces, if
// the manifest can be decoded and `repair_kernels` is set: without that, a program with changed kernels
// does not run.
void RepairChecksums(std::string& file, bool repair_kernels = true);

}  // namespace attune::testing

#endif  // ATTUNE_ARTIFACT_TESTING_SAMPLE_ARTIFACT_H_
