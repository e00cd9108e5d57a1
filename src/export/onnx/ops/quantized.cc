// Quantization. The zero point is always written, since QuantizeLinear takes the type of its output from
// it.
#include <algorithm>

#include "base/status.h"
#include "export/onnx/ops/writers.h"

namespace attune::onnx_export {
namespace {

constexpr int64_t kNarrowFloatOpset = 19;  // f16 and bf16
constexpr int64_t kBlockOpset = 21;        // blocks, and integers of 16 bits

bool AllAreZero(const Ints& values) {
  return std::ranges::all_of(values, [](int64_t value) { return value == 0; });
}

bool Is16Bit(DType dtype) { return dtype == DType::kI16 || dtype == DType::kU16; }

// Axis and block size, if the scale has them; also requires the opset for them and for the types.
Attributes Parameters(NodeContext& c, DType floats, DType integers) {
  Attributes attributes;
  const int64_t block_size = c.attrs().Int("block_size", 0);
  if (c.type(1).rank() > 0) attributes.Set("axis", c.attrs().Int("axis", 1));
  if (block_size != 0) attributes.Set("block_size", block_size);
  if (block_size != 0 || Is16Bit(integers)) c.writer().NeedOpset(kBlockOpset);
  if (floats != DType::kF32) c.writer().NeedOpset(kNarrowFloatOpset);
  return attributes;
}

}  // namespace

absl::Status WriteQuantize(NodeContext& c, const OperatorRow& row) {
  const DType dtype = c.type().dtype, to = c.attrs().Type("to");
  Names inputs = c.AllIn();
  if (c.type(1).dtype != dtype) inputs[1] = c.Emit("Cast", {inputs[1]}, {{"to", dtype}});
  if (inputs.size() == 2) {
    if (!c.type(1).is_static()) return NotSupported("a scale whose size depends on data");
    inputs.push_back(c.Constant(Tensor(to, c.type(1).shape())));
  }
  c.Finish(row.name, inputs, Parameters(c, dtype, to));
  return absl::OkStatus();
}

absl::Status WriteDequantize(NodeContext& c, const OperatorRow& row) {
  const DType scale = c.type(1).dtype;
  if (scale == DType::kF64) return NotSupported("ONNX dequantizes to no f64");
  Names inputs = c.AllIn();
  if (c.type().dtype == DType::kI32 && inputs.size() > 2) {
    const Tensor* zero = c.node().input(2)->constant();
    const bool is_zero = zero != nullptr && AllAreZero(zero->ToInts());
    if (!is_zero) return NotSupported("ONNX dequantizes i32 without a zero point only");
    inputs.pop_back();
  }
  c.Finish(row.name, inputs, Parameters(c, scale, c.type().dtype));
  return absl::OkStatus();
}

// Writes quantize(cast(x) scale) with scale 1.
absl::Status WriteRequantize(NodeContext& c, const OperatorRow& row) {
  if (c.attrs().String("rounding", "half_even") != "half_even") {
    return NotSupported("ONNX rounds once, and halves to even");
  }
  const DType to = c.attrs().Type("to");
  std::string scale = c.In(1);
  if (c.type(1).rank() > 0) {
    Ints shape(static_cast<size_t>(c.type().rank()), 1);
    shape[static_cast<size_t>(c.attrs().Int("axis", 1))] = -1;
    scale = c.Emit("Reshape", {scale, c.IntVector(shape)});
  }
  const std::string floats = c.Emit("Cast", {c.In(0)}, {{"to", DType::kF32}});
  const std::string product = c.Emit("Mul", {floats, scale});
  const std::string one = c.Scalar(DType::kF32, 1);
  const std::string zero = c.In(2).empty() ? c.Scalar(to, 0) : c.In(2);
  if (Is16Bit(to)) c.writer().NeedOpset(kBlockOpset);
  c.Finish(row.name, {product, one, zero});
  return absl::OkStatus();
}

}  // namespace attune::onnx_export
