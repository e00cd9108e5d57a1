#include "reference/broadcast.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "reference/values.h"

namespace attune::reference {

absl::StatusOr<Tensor> CopyStrided(const Tensor& in, Shape shape, int64_t offset, const Shape& strides) {
  ASSIGN_OR_RETURN(Tensor out, NewTensor(in.dtype(), std::move(shape)));
  if (out.num_elements() == 0) return out;
  // The last axis is the inner loop; a scalar gets one of size 1.
  Shape outer = out.shape();
  const int64_t inner = outer.empty() ? 1 : outer.back();
  const int64_t inner_stride = outer.empty() ? 0 : strides.back();
  if (!outer.empty()) outer.pop_back();
  WithStorage(in.dtype(), [&](auto storage) {
    using T = decltype(storage);
    const T* from = in.as<T>().data();
    T* to = out.as_mutable<T>().data();
    ForEachIndex(outer, [&](const Shape& index) {
      int64_t start = offset;
      for (size_t axis = 0; axis < index.size(); ++axis) start += index[axis] * strides[axis];
      for (int64_t i = 0; i < inner; ++i) to[i] = from[start + i * inner_stride];
      to += inner;
    });
  });
  return out;
}

absl::StatusOr<Shape> BroadcastShape(const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()), 1);
  const auto mismatch = [&] {
    return InvalidInput("shapes [", absl::StrJoin(a, ","), "] and [", absl::StrJoin(b, ","),
                        "] do not broadcast");
  };
  for (const Shape* shape : {&a, &b}) {
    const size_t shift = out.size() - shape->size();
    for (size_t axis = 0; axis < shape->size(); ++axis) {
      int64_t& size = out[axis + shift];
      if ((*shape)[axis] == 1 || (*shape)[axis] == size) continue;
      if (size != 1) return mismatch();
      size = (*shape)[axis];
    }
  }
  return out;
}

absl::StatusOr<Tensor> BroadcastTo(const Tensor& tensor, const Shape& shape) {
  if (tensor.shape() == shape) return tensor;
  const Shape& from = tensor.shape();
  const auto mismatch = [&] {
    return InvalidInput("shape [", absl::StrJoin(from, ","), "] does not broadcast to [",
                        absl::StrJoin(shape, ","), "]");
  };
  if (from.size() > shape.size()) return mismatch();
  const Shape own = RowMajorStrides(from);
  const size_t shift = shape.size() - from.size();
  Shape strides(shape.size(), 0);
  for (size_t axis = 0; axis < from.size(); ++axis) {
    if (from[axis] == 1) continue;
    if (from[axis] != shape[axis + shift]) return mismatch();
    strides[axis + shift] = own[axis];
  }
  return CopyStrided(tensor, shape, 0, strides);
}

absl::StatusOr<Tensor> Permute(const Tensor& tensor, const Shape& perm) {
  const Shape own = RowMajorStrides(tensor.shape());
  Shape shape;
  Shape strides;
  for (const int64_t axis : perm) {
    shape.push_back(tensor.shape()[axis]);
    strides.push_back(own[axis]);
  }
  return CopyStrided(tensor, std::move(shape), 0, strides);
}

}  // namespace attune::reference
