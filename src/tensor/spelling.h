// Words that the printer and the parser of the text form share, and a limit that the parser and the verifier
// share.
#ifndef ATTUNE_TENSOR_SPELLING_H_
#define ATTUNE_TENSOR_SPELLING_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/checked.h"
#include "tensor/stmt.h"

namespace attune {

// In the order of the enumerations.
inline constexpr std::array<std::string_view, 4> kMemorySpaceNames = {"global", "scratch", "register",
                                                                      "shared"};
inline constexpr std::array<std::string_view, 3> kBufferRoleNames = {"in", "out", "workspace"};

constexpr std::string_view MemorySpaceName(MemorySpace space) {
  return kMemorySpaceNames[static_cast<size_t>(space)];
}
constexpr std::string_view BufferRoleName(BufferRole role) {
  return kBufferRoleNames[static_cast<size_t>(role)];
}

// Whether the dimensions are not negative and the size is below the 2^40 bytes that index arithmetic counts
// on. The size of an open buffer is known, and checked, when a program sets its sizes.
inline bool IsBufferSizeValid(const BufferNode& buffer) {
  constexpr int64_t kMaxBytes = int64_t{1} << 40;
  if (buffer.is_open()) return std::ranges::none_of(buffer.shape, [](int64_t bound) { return bound < 0; });
  const std::optional<int64_t> elements = CheckedProduct(buffer.shape);
  return elements && *elements < kMaxBytes / DTypeSize(buffer.dtype);
}

}  // namespace attune

#endif  // ATTUNE_TENSOR_SPELLING_H_
