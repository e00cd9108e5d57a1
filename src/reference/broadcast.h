// Moving whole tensors: the strided copy that most data movement is, and NumPy's broadcasting.
#ifndef ATTUNE_REFERENCE_BROADCAST_H_
#define ATTUNE_REFERENCE_BROADCAST_H_

#include "absl/status/statusor.h"
#include "graph/tensor.h"

namespace attune::reference {

// A tensor of `shape` with out[i] = in[offset + Σ iₖ strides[k]]. Offset and strides count elements of the
// row-major input; a stride may be zero (repeats) or negative (walks back). All must fall within it.
absl::StatusOr<Tensor> CopyStrided(const Tensor& in, Shape shape, int64_t offset, const Shape& strides);

// The shape that NumPy's broadcasting gives for two shapes.
absl::StatusOr<Shape> BroadcastShape(const Shape& a, const Shape& b);

// `tensor` repeated to `shape`, which it must broadcast to. Shares the bytes where the shapes are equal.
absl::StatusOr<Tensor> BroadcastTo(const Tensor& tensor, const Shape& shape);

// `tensor` with output axis i its axis perm[i].
absl::StatusOr<Tensor> Permute(const Tensor& tensor, const Shape& perm);

}  // namespace attune::reference

#endif  // ATTUNE_REFERENCE_BROADCAST_H_
