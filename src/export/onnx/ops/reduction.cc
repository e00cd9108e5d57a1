// Reductions, scans, sorting and normalizations.
#include "export/onnx/messages.h"
#include "export/onnx/ops/writers.h"

namespace attune::onnx_export {

// In ONNX, no axes means all of them unless an attribute says otherwise.
absl::Status WriteReduce(NodeContext& c, const OperatorRow& row) {
  constexpr int64_t kBoolOpset = 20;
  if (c.type().dtype == DType::kBool) c.writer().NeedOpset(kBoolOpset);
  const Ints& axes = c.attrs().IntList("axes");
  Attributes attributes = HandedOn(c, row);
  if (axes.empty()) attributes.Set("noop_with_empty_axes", int64_t{1});
  c.Finish(row.name, {c.In(0), c.IntVector(axes)}, attributes);
  return absl::OkStatus();
}

absl::Status WriteScan(NodeContext& c, const OperatorRow& row) {
  const auto axis = static_cast<double>(c.attrs().Int("axis"));
  c.Finish(row.name, {c.In(0), c.Scalar(DType::kI64, axis)}, HandedOn(c, row));
  return absl::OkStatus();
}

absl::Status WriteTopK(NodeContext& c, const OperatorRow& row) {
  constexpr int64_t kBF16TopKOpset = 24;
  if (c.type().dtype == DType::kBF16) c.writer().NeedOpset(kBF16TopKOpset);
  c.Finish(row.name, {c.In(0), c.IntVector({c.attrs().Int("k")})}, HandedOn(c, row));
  return absl::OkStatus();
}

// In ONNX, the scale is required.
absl::Status WriteLayerNorm(NodeContext& c, const OperatorRow& row) {
  Names inputs = c.AllIn();
  inputs.resize(3);
  if (inputs[1].empty()) {
    const Shape shape = c.type().shape();
    Tensor ones(c.type().dtype, Shape(shape.begin() + c.attrs().Int("axis"), shape.end()));
    for (int64_t i = 0; i < ones.num_elements(); ++i) ones.SetDouble(i, 1);
    inputs[1] = c.Constant(ones);
  }
  c.Finish(row.name, inputs, HandedOn(c, row));
  return absl::OkStatus();
}

// x / √(mean(x²) + ε) scale. Since opset 23, ONNX has a single operator for it.
absl::Status WriteRmsNorm(NodeContext& c, const OperatorRow& row) {
  Ints axes;
  for (int64_t axis = c.attrs().Int("axis"); axis < c.type().rank(); ++axis) axes.push_back(axis);
  const std::string squares = c.Emit("Mul", {c.In(0), c.In(0)});
  const std::string over = c.IntVector(axes), epsilon = c.Scalar(c.type().dtype, c.attrs().Float("epsilon"));
  const std::string mean = c.Emit(row.name, {squares, over}, {{"keepdims", int64_t{1}}});
  const std::string root = c.Emit("Sqrt", {c.Emit("Add", {mean, epsilon})});
  if (c.In(1).empty()) {
    c.Finish("Div", {c.In(0), root});
  } else {
    c.Finish("Mul", {c.Emit("Div", {c.In(0), root}), c.In(1)});
  }
  return absl::OkStatus();
}

// Groups of one channel make it an instance normalization.
absl::Status WriteGroupNorm(NodeContext& c, const OperatorRow& row) {
  Attributes attributes = HandedOn(c, row);
  // InstanceNormalization requires a dimension to sum over, in addition to batch and channels.
  constexpr int kLeastRank = 3;
  if (c.type().rank() >= kLeastRank && c.type().dims[1] == Dim(c.attrs().Int("groups"))) {
    attributes.Remove("num_groups");
    c.Finish("InstanceNormalization", c.AllIn(), attributes);
    return absl::OkStatus();
  }
  constexpr int64_t kPerChannelOpset = 21;  // before, scale and bias had one value per group
  c.writer().NeedOpset(kPerChannelOpset);
  // It computes in f32 unless stash_type says otherwise.
  if (c.type().dtype == DType::kF64) attributes.Set("stash_type", int64_t{OnnxType(DType::kF64)});
  c.Finish(row.name, c.AllIn(), attributes);
  return absl::OkStatus();
}

}  // namespace attune::onnx_export
