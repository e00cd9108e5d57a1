#include "codegen/indices.h"

#include <algorithm>

namespace attune {

Affine FlatIndex(const Buffer& buffer, const std::vector<Expr>& indices, const Bounds& bounds) {
  Affine flat;
  const std::vector<int64_t> strides = buffer->strides();
  for (size_t i = 0; i < indices.size(); ++i) flat.Add(bounds.Normalize(indices[i]), strides[i]);
  return flat;
}

Interval LoopInterval(const Stmt& loop, const Bounds& bounds) {
  const Interval min = bounds.Range(loop->min), extent = bounds.Range(loop->extent);
  const bool unbounded = min.max >= Interval::kHigh / 2 || extent.max >= Interval::kHigh / 2;
  return {min.min, unbounded ? Interval::kHigh : min.max + std::max<int64_t>(extent.max, 1) - 1};
}

}  // namespace attune
