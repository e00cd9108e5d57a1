// A small artifact for tests, with kernels that are ordinary functions of this program.
#ifndef ATTUNE_ARTIFACT_TESTING_SAMPLE_ARTIFACT_H_
#define ATTUNE_ARTIFACT_TESTING_SAMPLE_ARTIFACT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "artifact/artifact.h"

namespace attune::testing {

inline constexpr int kRows = 8;
inline constexpr int kColumns = 48;

// The kernels by their index.
enum SampleKernel : uint32_t {
  kAdd,          // (a, b, out) out = a + b, split by rows; out may be a
  kKeepRows,     // (in, out) the rows whose element 0 is positive; dims[0] = how many
  kKeepColumns,  // (in, out) the columns whose element in row 0 is positive; dims[1] = how many
  kStart,        // (counter) counter = 0
  kStep,         // (counter, done) counter += 1, done = counter >= 5
  kFail,         // () returns 7
  kFillScratch,  // (in, out) out = in, rows through scratch; fails with 8 where scratch is not aligned
  kNumSampleKernels,
};

// The tensors by their index.
enum SampleTensor : uint32_t {
  kX,        // input, f32[kRows, kColumns]
  kW,        // constant w[i, j] = j - i, same shape
  kSum,      // output "sum" = x + w
  kRowsOut,  // output "rows", f32[n <= kRows, kColumns]
  kColsOut,  // output "columns", f32[kRows, m <= kColumns]
  kCounter,  // output "counter", i64[]; 5 after the loop
  kDone,     // bool[]
  kCopied,   // output "copied", the columns again, in a wider tensor f32[kRows, k <= 2 * kColumns]
  kThrough,  // output "through", the sum again, by way of scratch
  kNumSampleTensors,
};

// Owns the bytes that contents() points to.
struct SampleArtifact {
  Manifest manifest;  // of one variant with one program
  std::vector<std::byte> code;
  std::vector<std::byte> constants;

  Variant& variant() { return manifest.variants.front(); }
  Program& program() { return variant().programs.front(); }
  ArtifactContents contents() const { return {manifest, code, constants}; }
  // The file; aborts where the writer refuses.
  std::string Write() const;
};

// A program of every opcode, for any processor of this machine's architecture.
SampleArtifact MakeSampleArtifact();

// The same with compressed constants.
SampleArtifact MakeCompressedSampleArtifact();

// The same for two processors, the first of which no machine is; with prepacked weights and, as a second
// program, the sample at an input x of shape f32[kRows * kColumns].
SampleArtifact MakeSampleArtifactOfVariants();

// Sets the checksums of header, manifest, code and constants to what the bytes now have, where the
// header's sections lie inside the file: a damaged file then gets past them. Likewise that of the kernels'
// interfaces, where the manifest can be decoded and `repair_kernels` is set: without it, a program whose
// kernels are not as they were written does not run.
void RepairChecksums(std::string& file, bool repair_kernels = true);

}  // namespace attune::testing

#endif  // ATTUNE_ARTIFACT_TESTING_SAMPLE_ARTIFACT_H_
