// Moves whole tensors: the strided copy, which implements most data movement, and NumPy's broadcasting.
#ifndef ATTUNE_REFERENCE_BROADCAST_H_
#define ATTUNE_REFERENCE_BROADCAST_H_

#include "absl/status/statusor.h"
#include "graph/tensor.h"

namespace attune::reference {

// A tensor of `shape` with out[i] = in[offset + Σ iₖ strides[k]]. Offset and strides count elements of the
// row-major input; a stride may be zero (repeats) or negative (goes backwards). All indices must lie inside
// it.
absl::StatusOr<Tensor> CopyStrided(const Tensor& in, Shape shape, int64_t offset, const Shape& strides);

// The shape that results from NumPy's broadcasting of two shapes.
absl::StatusOr<Shape> BroadcastShape(const Shape& a, const Shape& b);

// Repeats `tensor` to `shape`; it must be broadcastable to it. Shares the bytes if the shapes are equal.
absl::StatusOr<Tensor> BroadcastTo(const Tensor& tensor, const Shape& shape);

// Transposes `tensor`: output axis i is its axis perm[i].
absl::StatusOr<Tensor> Permute(const Tensor& tensor, const Shape& perm);

}  // namespace attune::reference

#endif  // ATTUNE_REFERENCE_BROADCAST_H_
