// What an artifact holds, for people and tools.
#ifndef ATTUNE_API_DESCRIPTION_H_
#define ATTUNE_API_DESCRIPTION_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "artifact/artifact.h"

namespace attune {

// From the first to the last instruction that uses a tensor's bytes, both included; -1 where none does.
struct TensorUse {
  int64_t first = -1;
  int64_t last = -1;
};

// The constants that are written alike in an artifact's file.
struct ConstantStorage {
  std::string encoding;  // "raw", "f16", "indices of 4 bits"
  uint64_t ranges = 0;
  uint64_t bytes = 0;         // in memory
  uint64_t stored_bytes = 0;  // in the file, without the codebooks of indices
};

// A constant of the file, and what kernels read of it.
struct StoredWeight {
  std::string name;              // of the tensor that it is or becomes; of several, the first
  uint64_t stored_bytes = 0;     // where nothing is compressed
  uint64_t prepacked_bytes = 0;  // of what the runtime makes of it; 0 where kernels read it as it is
};

struct NetworkDescription {
  Manifest manifest;
  // The variant that the rest is about: the one that this processor runs, or the first where it runs none.
  size_t variant_index = 0;
  std::vector<TensorUse> uses;        // one a tensor of program()
  std::vector<StoredWeight> weights;  // of the variant, the largest first
  uint64_t file_bytes = 0;
  uint64_t code_bytes = 0;
  uint64_t constant_bytes = 0;                    // in memory, of all variants
  uint64_t stored_constant_bytes = 0;             // in the file: fewer where they are compressed
  std::vector<ConstantStorage> constant_storage;  // by encoding; empty where they are not

  const Variant& variant() const { return manifest.variants[variant_index]; }
  // At the first set of input shapes.
  const Program& program() const { return variant().programs.front(); }
  // In memory, of the variant: what kernels read.
  uint64_t weight_bytes() const;
};

// Of the bytes of an artifact's file. The error says what is wrong with them, without a subject.
absl::StatusOr<NetworkDescription> DescribeArtifact(std::string_view bytes);

}  // namespace attune

#endif  // ATTUNE_API_DESCRIPTION_H_
