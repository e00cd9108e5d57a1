#include "codegen/indices.h"

#include <algorithm>

namespace attune {

Affine FlatIndex(const Buffer& buffer, const std::vector<Expr>& indices, const Bounds& bounds) {
  Affine flat;
  if (buffer->is_open()) {
    Affine stride;
    stride.constant = 1;
    for (size_t i = indices.size(); i-- > 0;) {
      flat.Add(bounds.Multiply(bounds.Normalize(indices[i]), stride), 1);
      stride = bounds.Multiply(stride, bounds.Normalize(buffer->extent(i).expr()));
    }
    return flat;
  }
  const std::vector<int64_t> strides = buffer->strides();
  for (size_t i = 0; i < indices.size(); ++i) flat.Add(bounds.Normalize(indices[i]), strides[i]);
  return flat;
}

bool AreInBounds(const Buffer& buffer, const Interval& flat) {
  return !buffer->is_open() && flat.min >= 0 && flat.max < buffer->num_elements();
}

Interval LoopInterval(const Stmt& loop, const Bounds& bounds) {
  const Interval min = bounds.Range(loop->min), extent = bounds.Range(loop->extent);
  const bool unbounded = min.max >= Interval::kHigh / 2 || extent.max >= Interval::kHigh / 2;
  return {min.min, unbounded ? Interval::kHigh : min.max + std::max<int64_t>(extent.max, 1) - 1};
}

}  // namespace attune
