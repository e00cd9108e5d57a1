// What an artifact holds, for people and tools.
#ifndef ATTUNE_API_DESCRIPTION_H_
#define ATTUNE_API_DESCRIPTION_H_

#include <cstdint>
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

struct NetworkDescription {
  Manifest manifest;
  std::vector<TensorUse> uses;  // one a tensor of the manifest
  uint64_t file_bytes = 0;
  uint64_t code_bytes = 0;
  uint64_t constant_bytes = 0;
};

// Of the bytes of an artifact's file. The error says what is wrong with them, without a subject.
absl::StatusOr<NetworkDescription> DescribeArtifact(std::string_view bytes);

}  // namespace attune

#endif  // ATTUNE_API_DESCRIPTION_H_
