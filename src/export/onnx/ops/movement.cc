// Operators that move and select elements. Attributes of the graph become inputs in ONNX.
#include <algorithm>
#include <limits>

#include "base/status.h"
#include "export/onnx/ops/writers.h"

namespace attune::onnx_export {
namespace {

// The end of ONNX's Slice: one step after the last element. If a downward slice includes element 0, only
// the minimum integer can express the end, since -1 counts from the back.
int64_t EndOf(int64_t start, int64_t size, int64_t step) {
  if (size == 0) return start;
  const int64_t last = start + (size - 1) * step;
  if (step > 0) return last + 1;
  return last == 0 ? std::numeric_limits<int64_t>::min() : last - 1;
}

}  // namespace

// A size that depends on data must either stay at its index, or be the only one that is inferred from the
// others.
absl::Status WriteReshape(NodeContext& c, const OperatorRow& row) {
  const TensorType &from = c.type(), &to = c.output_type();
  Ints shape = to.shape();
  bool is_inferred = false;
  for (size_t i = 0; i < shape.size(); ++i) {
    const Dim& dim = to.dims[i];
    if (dim.is_constant()) {
      if (dim.size == 0 && !to.is_static())
        return NotSupported("a size that depends on data beside one of 0");
    } else if (i < from.dims.size() && from.dims[i] == dim) {
      shape[i] = 0;
    } else if (!is_inferred) {
      shape[i] = -1;
      is_inferred = true;
    } else {
      return NotSupported("it moves two sizes that depend on data");
    }
  }
  c.Finish(row.name, {c.In(0), c.IntVector(shape)}, {{"allowzero", int64_t{to.is_static()}}});
  return absl::OkStatus();
}

absl::Status WriteBroadcast(NodeContext& c, const OperatorRow& row) {
  Ints shape = c.output_type().shape();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!c.output_type().dims[i].is_constant()) shape[i] = 1;  // 1 keeps the size of the input
  }
  c.Finish(row.name, {c.In(0), c.IntVector(shape)});
  return absl::OkStatus();
}

absl::Status WriteSlice(NodeContext& c, const OperatorRow& row) {
  const Ints &starts = c.attrs().IntList("starts"), &sizes = c.attrs().IntList("sizes"),
             &steps = c.attrs().IntList("steps");
  Ints from, to, axes, by;
  for (size_t i = 0; i < starts.size(); ++i) {
    if (starts[i] == 0 && steps[i] == 1 && sizes[i] == c.type().dims[i].size) continue;
    from.push_back(std::max<int64_t>(starts[i], 0));
    to.push_back(sizes[i] == 0 ? from.back() : EndOf(starts[i], sizes[i], steps[i]));
    axes.push_back(static_cast<int64_t>(i));
    by.push_back(steps[i]);
  }
  if (axes.empty()) {
    c.Finish("Identity", {c.In(0)});
    return absl::OkStatus();
  }
  const std::string begin = c.IntVector(from), end = c.IntVector(to), along = c.IntVector(axes);
  c.Finish(row.name, {c.In(0), begin, end, along, c.IntVector(by)});
  return absl::OkStatus();
}

absl::Status WritePad(NodeContext& c, const OperatorRow& row) {
  const std::string mode = c.attrs().String("mode", "constant");
  Names inputs = {c.In(0), c.IntVector(c.attrs().IntList("pads"))};
  if (mode == "constant") inputs.push_back(c.Scalar(c.type().dtype, c.attrs().Number("value", 0)));
  constexpr int64_t kWrapOpset = 19;
  if (mode == "wrap") c.writer().NeedOpset(kWrapOpset);
  c.Finish(row.name, inputs, {{"mode", mode}});
  return absl::OkStatus();
}

absl::Status WriteReverseSequence(NodeContext& c, const OperatorRow& row) {
  if (c.attrs().Int("batch_axis") > 1 || c.attrs().Int("time_axis") > 1) {
    return NotSupported("ONNX reverses along the first two axes only");
  }
  return WriteWithLongIndices(c, row);
}

absl::Status WriteWithLongIndices(NodeContext& c, const OperatorRow& row) {
  Names inputs = c.AllIn();
  inputs[1] = c.LongIn(1);
  c.Finish(row.name, inputs, HandedOn(c, row));
  return absl::OkStatus();
}

absl::Status WriteNonMaxSuppression(NodeContext& c, const OperatorRow& row) {
  const auto number = [&c](std::string_view name) {
    const auto value = static_cast<float>(c.attrs().Float(name));
    return c.Constant(Tensor::FromFloats({&value, 1}, {1}));
  };
  Names inputs = c.AllIn();
  inputs.push_back(c.IntVector({c.attrs().Int("max_per_class")}));
  inputs.push_back(number("iou_threshold"));
  if (c.attrs().Has("score_threshold")) inputs.push_back(number("score_threshold"));
  c.Finish(row.name, inputs, HandedOn(c, row));
  return absl::OkStatus();
}

}  // namespace attune::onnx_export
