// Indexed access: gathers and scatters. An index out of range is an error.
#include <cstring>
#include <string>

#include "base/status.h"
#include "graph/index_bounds.h"
#include "reference/kernels.h"
#include "reference/values.h"

namespace attune::reference {
namespace {

absl::Status OutOfRange(int64_t index, int64_t size) {
  return InvalidInput("index ", index, " in an axis of size ", size);
}

// The indices in `tensor` along an axis of `size`; negative ones count from the end.
absl::StatusOr<std::vector<int64_t>> LoadIndices(const Tensor& tensor, int64_t size) {
  std::vector<int64_t> indices = Load<int64_t>(tensor);
  for (int64_t& index : indices) {
    if (index < -size || index >= size) return OutOfRange(index, size);
    if (index < 0) index += size;
  }
  return indices;
}

// Each tuple in the last axis of `indices` selects a block by the leading axes of `shape` from axis
// `batch_dims` on. Returns the blocks' offsets in elements, without the offsets of the batches.
absl::StatusOr<std::vector<int64_t>> LoadTuples(const Tensor& indices, const Shape& shape,
                                                int64_t batch_dims) {
  const int64_t width = indices.shape().back();
  const Shape strides = RowMajorStrides(shape);
  const std::vector<int64_t> flat = Load<int64_t>(indices);
  std::vector<int64_t> offsets(static_cast<size_t>(CountElements(indices.shape(), 0, indices.rank() - 1)), 0);
  for (size_t tuple = 0; tuple < offsets.size(); ++tuple) {
    for (int64_t k = 0; k < width; ++k) {
      const int64_t size = shape[batch_dims + k];
      int64_t index = flat[tuple * width + k];
      if (index < -size || index >= size) return OutOfRange(index, size);
      if (index < 0) index += size;
      offsets[tuple] += index * strides[batch_dims + k];
    }
  }
  return offsets;
}

template <typename Wide>
Wide Combine(const std::string& reduction, Wide old, Wide update) {
  if (reduction == "add") return WrappingAdd(old, update);
  if (reduction == "mul") return WrappingMul(old, update);
  if (reduction == "max") return Maximum(old, update);
  if (reduction == "min") return Minimum(old, update);
  return update;
}

// A copy of `x` where element targets[i] is combined with updates[i], in order.
Outputs ScatterFlat(const Tensor& x, const std::vector<int64_t>& targets, const Tensor& updates,
                    const std::string& reduction) {
  if (reduction == "none") {
    ASSIGN_OR_RETURN(Tensor out, NewTensor(x.dtype(), x.shape()));
    if (x.num_bytes() > 0) std::memcpy(out.mutable_data(), x.data(), static_cast<size_t>(x.num_bytes()));
    WithStorage(x.dtype(), [&](auto storage) {
      using T = decltype(storage);
      const auto from = updates.as<T>();
      const auto to = out.as_mutable<T>();
      for (size_t i = 0; i < targets.size(); ++i) to[targets[i]] = from[i];
    });
    return One(std::move(out));
  }
  return WithWide(x.dtype(), [&](auto wide) {
    using Wide = decltype(wide);
    std::vector<Wide> values = Load<Wide>(x);
    const std::vector<Wide> from = Load<Wide>(updates);
    for (size_t i = 0; i < targets.size(); ++i) {
      values[targets[i]] = Combine(reduction, values[targets[i]], from[i]);
    }
    return One(Store(values, x.dtype(), x.shape()));
  });
}

// For each element of `indices`, the flat index of the element in a tensor of `shape` that has the same
// position, except that its position along `axis` is that index.
absl::StatusOr<std::vector<int64_t>> ElementTargets(const Tensor& indices, const Shape& shape, int64_t axis) {
  ASSIGN_OR_RETURN(std::vector<int64_t> targets, LoadIndices(indices, shape[axis]));
  const Shape strides = RowMajorStrides(shape);
  int64_t at = 0;
  ForEachIndex(indices.shape(), [&](const Shape& index) {
    int64_t offset = targets[at] * strides[axis];
    for (size_t k = 0; k < index.size(); ++k) {
      if (static_cast<int64_t>(k) != axis) offset += index[k] * strides[k];
    }
    targets[at++] = offset;
  });
  return targets;
}

}  // namespace

Outputs EvaluateGather(const Node& node, Inputs inputs) {
  const Tensor& x = inputs[0];
  const int64_t axis = node.attrs().Int("axis");
  const AxisView view(x.shape(), axis);
  ASSIGN_OR_RETURN(const std::vector<int64_t> indices, LoadIndices(inputs[1], view.size));
  Shape shape(x.shape().begin(), x.shape().begin() + axis);
  shape.insert(shape.end(), inputs[1].shape().begin(), inputs[1].shape().end());
  shape.insert(shape.end(), x.shape().begin() + axis + 1, x.shape().end());
  return One(TakeSlices(x, view, indices, std::move(shape)));
}

Outputs EvaluateGatherElements(const Node& node, Inputs inputs) {
  const Tensor& x = inputs[0];
  ASSIGN_OR_RETURN(const std::vector<int64_t> sources,
                   ElementTargets(inputs[1], x.shape(), node.attrs().Int("axis")));
  ASSIGN_OR_RETURN(Tensor out, NewTensor(x.dtype(), inputs[1].shape()));
  WithStorage(x.dtype(), [&](auto storage) {
    using T = decltype(storage);
    const auto from = x.as<T>();
    const auto to = out.as_mutable<T>();
    for (size_t i = 0; i < sources.size(); ++i) to[i] = from[sources[i]];
  });
  return One(std::move(out));
}

// Output: the shape of the indices without its last axis, then the axes of x that the tuples do not index.
Outputs EvaluateGatherNd(const Node& node, Inputs inputs) {
  const Tensor& x = inputs[0];
  const Tensor& indices = inputs[1];
  const int64_t batch_dims = node.attrs().Int("batch_dims", 0);
  const int64_t width = indices.shape().back();
  ASSIGN_OR_RETURN(const std::vector<int64_t> offsets, LoadTuples(indices, x.shape(), batch_dims));
  Shape shape(indices.shape().begin(), indices.shape().end() - 1);
  shape.insert(shape.end(), x.shape().begin() + batch_dims + width, x.shape().end());
  ASSIGN_OR_RETURN(Tensor out, NewTensor(x.dtype(), std::move(shape)));
  if (out.num_elements() == 0) return One(std::move(out));

  const int rank = x.rank();
  const int64_t batches = CountElements(x.shape(), 0, static_cast<int>(batch_dims));
  const int64_t per_batch = static_cast<int64_t>(offsets.size()) / batches;
  const int64_t batch_stride = CountElements(x.shape(), static_cast<int>(batch_dims), rank);
  const int64_t block = CountElements(x.shape(), static_cast<int>(batch_dims + width), rank);
  const int64_t element = DTypeSize(x.dtype());
  std::byte* to = out.mutable_data();
  for (size_t i = 0; i < offsets.size(); ++i) {
    const int64_t source = static_cast<int64_t>(i) / per_batch * batch_stride + offsets[i];
    std::memcpy(to, x.data() + source * element, static_cast<size_t>(block * element));
    to += block * element;
  }
  return One(std::move(out));
}

Outputs EvaluateScatterElements(const Node& node, Inputs inputs) {
  ASSIGN_OR_RETURN(const std::vector<int64_t> targets,
                   ElementTargets(inputs[1], inputs[0].shape(), node.attrs().Int("axis")));
  return ScatterFlat(inputs[0], targets, inputs[2], node.attrs().String("reduction", "none"));
}

Outputs EvaluateScatterNd(const Node& node, Inputs inputs) {
  const Tensor& x = inputs[0];
  ASSIGN_OR_RETURN(const std::vector<int64_t> offsets, LoadTuples(inputs[1], x.shape(), 0));
  const int64_t block = CountElements(x.shape(), static_cast<int>(inputs[1].shape().back()), x.rank());
  std::vector<int64_t> targets;
  targets.reserve(offsets.size() * static_cast<size_t>(block));
  for (const int64_t offset : offsets) {
    for (int64_t i = 0; i < block; ++i) targets.push_back(offset + i);
  }
  return ScatterFlat(x, targets, inputs[2], node.attrs().String("reduction", "none"));
}

Outputs EvaluateCheckIndex(const Node& node, Inputs inputs) {
  const std::optional<IndexFault> fault = FindIndexFault(inputs[0], IndexOperandOf(node)->bounds);
  if (fault.has_value()) return OutOfRange(fault->index, fault->size);
  return One(inputs[0]);
}

}  // namespace attune::reference
