// Describes the content of an artifact, for people and tools.
#ifndef ATTUNE_API_DESCRIPTION_H_
#define ATTUNE_API_DESCRIPTION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "artifact/artifact.h"
#include "artifact/signature.h"

namespace attune {

// The first and the last instruction that uses a tensor's bytes; -1 if no instruction does.
struct TensorUse {
  int64_t first = -1;
  int64_t last = -1;
};

// The constants with the same encoding in an artifact's file.
struct ConstantStorage {
  std::string encoding;  // "raw", "f16", "indices of 4 bits"
  uint64_t ranges = 0;
  uint64_t bytes = 0;         // in memory
  uint64_t stored_bytes = 0;  // in the file, without the codebooks of indices
};

// A constant in the file, and the form of it that kernels read.
struct StoredWeight {
  std::string name;              // of the tensor; the first one if several use the constant
  uint64_t stored_bytes = 0;     // without compression
  uint64_t prepacked_bytes = 0;  // size of its prepacked forms; 0 if kernels read it unchanged
};

struct NetworkDescription {
  Manifest manifest;
  // The variant that the remaining fields describe: the one that this processor runs, or the first if it
  // runs none.
  size_t variant_index = 0;
  std::vector<TensorUse> uses;                // one per tensor of program()
  std::vector<StoredWeight> weights;          // of the variant, largest first
  std::vector<ArtifactSignature> signatures;  // not verified
  uint64_t file_bytes = 0;
  uint64_t code_bytes = 0;
  uint64_t constant_bytes = 0;                    // in memory, of all variants
  uint64_t stored_constant_bytes = 0;             // in the file; smaller if they are compressed
  std::vector<ConstantStorage> constant_storage;  // by encoding; empty if constants are not compressed

  const Variant& variant() const { return manifest.variants[variant_index]; }
  // Whether it was compiled to clamp indices that are out of range.
  bool has_unchecked_indices() const;
  // The program for the first set of input shapes.
  const Program& program() const { return variant().programs.front(); }
  // The size in memory of the variant's weights in the form that kernels read.
  uint64_t weight_bytes() const;
};

// Describes an artifact from the bytes of its file. The error says what is wrong with them, without naming
// a subject.
absl::StatusOr<NetworkDescription> DescribeArtifact(std::string_view bytes);

}  // namespace attune

#endif  // ATTUNE_API_DESCRIPTION_H_
