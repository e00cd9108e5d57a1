// Checks that indices are within their bounds.
#ifndef ATTUNE_RUNTIME_INDEX_CHECK_H_
#define ATTUNE_RUNTIME_INDEX_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "runtime/device.h"

namespace attune {

// An index, and the size of the axis that it is outside of.
struct OutOfBounds {
  int64_t index, size;
};

// Indices in memory of the device, row-major in a tensor of shape `bounds`, of which those of shape `actual`
// are checked. The two have equal rank, and actual[i] <= bounds[i].
struct IndexTensor {
  const std::byte* data;
  uint8_t dtype;  // kDTypeI32 or kDTypeI64
  std::span<const int64_t> bounds, actual;
};

// The first element that is less than least[k] or not less than sizes[k], where k is its index along the last
// axis, or 0 if there is one size only. With more sizes, the last axis is as long as `sizes`. No allocation:
// the cost is about that of reading the elements once.
std::optional<OutOfBounds> FindOutOfBounds(const Device& device, const IndexTensor& indices,
                                           std::span<const int64_t> least, std::span<const int64_t> sizes);

}  // namespace attune

#endif  // ATTUNE_RUNTIME_INDEX_CHECK_H_
