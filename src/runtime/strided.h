// Copies tensors whose actual shape is smaller than the shape that determines their strides.
#ifndef ATTUNE_RUNTIME_STRIDED_H_
#define ATTUNE_RUNTIME_STRIDED_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/device.h"

namespace attune {

// How many elements a tensor of this shape has.
uint64_t CountElements(std::span<const int64_t> shape);

// Whether the elements of `actual` are contiguous in a row-major tensor of shape `bounds`. The two have
// equal rank, and actual[i] <= bounds[i].
bool IsContiguous(std::span<const int64_t> actual, std::span<const int64_t> bounds);

// Copies the elements of shape `actual` from a row-major tensor of shape `from_bounds` to one of shape
// `to_bounds`. All three have equal rank, and actual[i] is at most either bound. The memories must not
// overlap.
void CopyStrided(const Device& device, std::byte* to, std::span<const int64_t> to_bounds,
                 const std::byte* from, std::span<const int64_t> from_bounds, std::span<const int64_t> actual,
                 uint64_t element_bytes);

}  // namespace attune

#endif  // ATTUNE_RUNTIME_STRIDED_H_
