// Data movement: operators that never interpret an element, for any dtype.
#include <cstring>

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "reference/broadcast.h"
#include "reference/kernels.h"
#include "reference/values.h"

namespace attune::reference {

Outputs EvaluateIota(const Node& node, Inputs) {
  const Ints& steps = node.attrs().IntList("steps");
  ASSIGN_OR_RETURN(Tensor out, NewTensor(node.attrs().Type("to"), node.attrs().IntList("shape")));
  int64_t at = 0;
  ForEachIndex(out.shape(), [&](const Shape& index) {
    int64_t value = node.attrs().Int("start", 0);
    for (size_t d = 0; d < index.size(); ++d) value += steps[d] * index[d];
    out.SetInt(at++, value);
  });
  return One(std::move(out));
}

Outputs EvaluateReshape(const Node& node, Inputs inputs) {
  Shape shape = ResolveShape(node, inputs);
  if (CountElements(shape) != inputs[0].num_elements()) {
    return InvalidInput(inputs[0].num_elements(), " elements do not make a tensor of shape [",
                        absl::StrJoin(shape, ","), "]");
  }
  return One(inputs[0].Reshaped(std::move(shape)));
}

Outputs EvaluateTranspose(const Node& node, Inputs inputs) {
  return One(Permute(inputs[0], node.attrs().IntList("perm")));
}

Outputs EvaluateBroadcast(const Node& node, Inputs inputs) {
  return One(BroadcastTo(inputs[0], ResolveShape(node, inputs)));
}

Outputs EvaluateSlice(const Node& node, Inputs inputs) {
  const Ints& starts = node.attrs().IntList("starts");
  const Ints& steps = node.attrs().IntList("steps");
  Shape shape = ResolveShape(node, inputs);
  Shape strides = RowMajorStrides(inputs[0].shape());
  int64_t offset = 0;
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    offset += starts[axis] * strides[axis];
    strides[axis] *= steps[axis];
  }
  return One(CopyStrided(inputs[0], std::move(shape), offset, strides));
}

Outputs EvaluateConcat(const Node& node, Inputs inputs) {
  const int64_t axis = node.attrs().Int("axis");
  Shape shape = inputs[0].shape();
  shape[axis] = 0;
  for (const Tensor& input : inputs) shape[axis] += input.shape()[axis];
  ASSIGN_OR_RETURN(Tensor out, NewTensor(inputs[0].dtype(), std::move(shape)));
  const AxisView view(out.shape(), axis);
  std::byte* to = out.mutable_data();
  for (int64_t outer = 0; outer < view.outer; ++outer) {
    for (const Tensor& input : inputs) {
      const int64_t bytes = input.shape()[axis] * view.inner * DTypeSize(input.dtype());
      if (bytes == 0) continue;
      std::memcpy(to, input.data() + outer * bytes, static_cast<size_t>(bytes));
      to += bytes;
    }
  }
  return One(std::move(out));
}

// DCR: channels are [block, block, C']; CRD: [C', block, block].
Outputs EvaluateDepthToSpace(const Node& node, Inputs inputs) {
  const Shape& in = inputs[0].shape();
  const int64_t block = node.attrs().Int("block");
  const int64_t channels = in[1] / (block * block);
  const bool dcr = node.attrs().String("mode", "DCR") == "DCR";
  const Shape split = dcr ? Shape{in[0], block, block, channels, in[2], in[3]}
                          : Shape{in[0], channels, block, block, in[2], in[3]};
  const Shape perm = dcr ? Shape{0, 3, 4, 1, 5, 2} : Shape{0, 1, 4, 2, 5, 3};
  ASSIGN_OR_RETURN(const Tensor moved, Permute(inputs[0].Reshaped(split), perm));
  return One(moved.Reshaped({in[0], channels, in[2] * block, in[3] * block}));
}

Outputs EvaluateSpaceToDepth(const Node& node, Inputs inputs) {
  const Shape& in = inputs[0].shape();
  const int64_t block = node.attrs().Int("block");
  const Shape split = {in[0], in[1], in[2] / block, block, in[3] / block, block};
  ASSIGN_OR_RETURN(const Tensor moved, Permute(inputs[0].Reshaped(split), {0, 3, 5, 1, 2, 4}));
  return One(moved.Reshaped({in[0], in[1] * block * block, in[2] / block, in[3] / block}));
}

// (x, lengths [batch]): reverses the first length elements along the time axis, and copies the rest.
Outputs EvaluateReverseSequence(const Node& node, Inputs inputs) {
  const Tensor& x = inputs[0];
  const int64_t batch_axis = node.attrs().Int("batch_axis");
  const int64_t time_axis = node.attrs().Int("time_axis");
  const std::vector<int64_t> lengths = inputs[1].ToInts();
  for (const int64_t length : lengths) {
    if (length < 0 || length > x.shape()[time_axis]) {
      return InvalidInput("a sequence of length ", length, " in a time axis of size ", x.shape()[time_axis]);
    }
  }
  const Shape strides = RowMajorStrides(x.shape());
  ASSIGN_OR_RETURN(Tensor out, NewTensor(x.dtype(), x.shape()));
  WithStorage(x.dtype(), [&](auto storage) {
    using T = decltype(storage);
    const T* from = x.as<T>().data();
    T* to = out.as_mutable<T>().data();
    int64_t at = 0;
    ForEachIndex(x.shape(), [&](const Shape& index) {
      const int64_t time = index[time_axis];
      const int64_t length = lengths[index[batch_axis]];
      const int64_t source = time < length ? length - 1 - time : time;
      to[at] = from[at + (source - time) * strides[time_axis]];
      ++at;
    });
  });
  return One(std::move(out));
}

}  // namespace attune::reference
