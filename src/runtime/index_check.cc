#include "runtime/index_check.h"

#include <algorithm>
#include <type_traits>

#include "runtime/strided.h"

namespace attune {
namespace {

// How many elements are copied from the device at a time.
constexpr uint64_t kChunk = 512;

// `at` is the flat position from the start of a row.
template <typename T>
bool IsInBounds(T index, uint64_t at, std::span<const int64_t> least, std::span<const int64_t> sizes) {
  const size_t k = sizes.size() == 1 ? 0 : at % sizes.size();
  return index >= least[k] && index < sizes[k];
}

// Whether all are in the bounds: without a branch for each, so that the compiler can use vectors.
template <typename T>
bool AreInBounds(std::span<const T> indices, int64_t least, int64_t size) {
  const auto count = static_cast<uint64_t>(size) - static_cast<uint64_t>(least);
  uint64_t outside = 0;
  for (const T index : indices)
    outside |= static_cast<uint64_t>(static_cast<uint64_t>(index) - static_cast<uint64_t>(least) >= count);
  return outside == 0;
}

template <typename T>
std::optional<OutOfBounds> FindInRow(const Device& device, const std::byte* data, uint64_t count,
                                     std::span<const int64_t> least, std::span<const int64_t> sizes) {
  T chunk[kChunk];
  for (uint64_t begin = 0; begin < count; begin += kChunk) {
    const std::span<T> indices(chunk, std::min(kChunk, count - begin));
    device.Copy(chunk, data + begin * sizeof(T), indices.size_bytes());
    if (sizes.size() == 1 && least[0] <= sizes[0] && AreInBounds<T>(indices, least[0], sizes[0])) continue;
    for (uint64_t i = 0; i < indices.size(); ++i) {
      if (IsInBounds(indices[i], begin + i, least, sizes)) continue;
      return OutOfBounds{indices[i], sizes[sizes.size() == 1 ? 0 : (begin + i) % sizes.size()]};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<OutOfBounds> FindOutOfBounds(const Device& device, const IndexTensor& indices,
                                           std::span<const int64_t> least, std::span<const int64_t> sizes) {
  const auto& [data, dtype, bounds, actual] = indices;
  if (IsContiguous(actual, bounds)) {
    const uint64_t count = CountElements(actual);
    return dtype == kDTypeI32 ? FindInRow<int32_t>(device, data, count, least, sizes)
                              : FindInRow<int64_t>(device, data, count, least, sizes);
  }
  const uint64_t stride = CountElements(bounds.subspan(1)) * ElementSize(dtype);
  for (int64_t i = 0; i < actual[0]; ++i) {
    const IndexTensor part = {data + static_cast<uint64_t>(i) * stride, dtype, bounds.subspan(1),
                              actual.subspan(1)};
    if (const auto fault = FindOutOfBounds(device, part, least, sizes); fault.has_value()) return fault;
  }
  return std::nullopt;
}

}  // namespace attune
