// Elementwise operators that have another form in ONNX.
#include "absl/strings/str_cat.h"
#include "export/onnx/ops/writers.h"

namespace attune::onnx_export {

// x sigmoid(x)
absl::Status WriteSilu(NodeContext& c, const OperatorRow& row) {
  c.Finish("Mul", {c.In(0), c.Emit(row.name, {c.In(0)})});
  return absl::OkStatus();
}

// In ONNX, the limits for integers are integers.
absl::Status WriteClip(NodeContext& c, const OperatorRow& row) {
  const DType dtype = c.type().dtype;
  const auto limit = [&](std::string_view name, ExactNumber (ExactNumber::*to_integer)() const) {
    if (!c.attrs().Has(name)) return std::string();
    const ExactNumber& number = c.attrs().Number(name);
    return c.Scalar(dtype, IsFloat(dtype) ? number : (number.*to_integer)());
  };
  const std::string min = limit("min", &ExactNumber::Ceil), max = limit("max", &ExactNumber::Floor);
  c.Finish(row.name, {c.In(0), min, max});
  return absl::OkStatus();
}

absl::Status WriteLogical(NodeContext& c, const OperatorRow& row) {
  const bool is_bool = c.type().dtype == DType::kBool;
  c.Finish(is_bool ? std::string(row.name) : absl::StrCat("Bitwise", row.name), c.AllIn());
  return absl::OkStatus();
}

// ONNX's remainder for floats has the sign of the dividend. If the divisor has the other sign, it is added.
absl::Status WriteMod(NodeContext& c, const OperatorRow& row) {
  const DType dtype = c.type().dtype;
  const bool truncates = c.attrs().Bool("truncate");
  if (truncates || !IsFloat(dtype)) {
    c.Finish(row.name, c.AllIn(), {{"fmod", int64_t{truncates}}});
    return absl::OkStatus();
  }
  const std::string divisor = c.In(1), zero = c.Scalar(dtype, 0);
  const std::string rest = c.Emit(row.name, c.AllIn(), {{"fmod", int64_t{1}}});
  const std::string differs = c.Emit("Xor", {c.Emit("Less", {rest, zero}), c.Emit("Less", {divisor, zero})});
  const std::string is_some = c.Emit("Not", {c.Emit("Equal", {rest, zero})});
  c.Finish("Where", {c.Emit("And", {differs, is_some}), c.Emit("Add", {rest, divisor}), rest});
  return absl::OkStatus();
}

absl::Status WriteShift(NodeContext& c, const OperatorRow& row) {
  const std::string direction = c.node().op() == Op::kShiftLeft ? "LEFT" : "RIGHT";
  c.Finish(row.name, c.AllIn(), {{"direction", direction}});
  return absl::OkStatus();
}

}  // namespace attune::onnx_export
