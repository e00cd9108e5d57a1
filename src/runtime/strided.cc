#include "runtime/strided.h"

namespace attune {

uint64_t CountElements(std::span<const int64_t> shape) {
  uint64_t count = 1;
  for (const int64_t size : shape) count *= static_cast<uint64_t>(size);
  return count;
}

bool IsContiguous(std::span<const int64_t> actual, std::span<const int64_t> bounds) {
  for (size_t i = 1; i < actual.size(); ++i) {
    if (actual[i] != bounds[i] && CountElements(actual.first(i)) > 1) return CountElements(actual) == 0;
  }
  return true;
}

void CopyStrided(const Device& device, std::byte* to, std::span<const int64_t> to_bounds,
                 const std::byte* from, std::span<const int64_t> from_bounds, std::span<const int64_t> actual,
                 uint64_t element_bytes) {
  if (IsContiguous(actual, to_bounds) && IsContiguous(actual, from_bounds)) {
    device.Copy(to, from, CountElements(actual) * element_bytes);
    return;
  }
  const uint64_t to_stride = CountElements(to_bounds.subspan(1)) * element_bytes;
  const uint64_t from_stride = CountElements(from_bounds.subspan(1)) * element_bytes;
  for (int64_t i = 0; i < actual[0]; ++i) {
    CopyStrided(device, to, to_bounds.subspan(1), from, from_bounds.subspan(1), actual.subspan(1),
                element_bytes);
    to += to_stride;
    from += from_stride;
  }
}

}  // namespace attune
