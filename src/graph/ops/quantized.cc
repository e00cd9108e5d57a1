// Quantization: integers that stand for (x - zero_point) scale.
#include "base/checked.h"
#include "graph/ops/checks.h"
#include "graph/ops/ops.h"

namespace attune::infer {
namespace {

bool IsQuantizedDType(DType dtype) {
  return dtype == DType::kI8 || dtype == DType::kU8 || dtype == DType::kI16 || dtype == DType::kU16;
}

absl::StatusOr<DType> TargetDType(const Node& node) {
  const DType to = node.attrs().Type("to");
  if (IsQuantizedDType(to)) return to;
  return InvalidInput("cannot quantize to ", DTypeName(to), ", only to i8, u8, i16 and u16");
}

// Checks the shape of the scale: [], or [size] along the attribute `axis`; with blocks along that axis, the
// input's shape with one value for each block. `block_size` 0: no blocks.
absl::Status CheckScale(const Node& node, int64_t block_size) {
  const TensorType& x = InputType(node);
  const TensorType& scale = InputType(node, 1);
  if (scale.rank() == 0 && block_size == 0) return absl::OkStatus();
  const int64_t axis = node.attrs().Int("axis", 1);
  if (axis < 0 || axis >= x.rank()) return InvalidInput("axis ", axis, " is not an axis of ", ToString(x));
  if (block_size == 0) return CheckDims(scale, "the scale", {x.dims[static_cast<size_t>(axis)]});
  ASSIGN_OR_RETURN(const int64_t size, ConstantDim(x, static_cast<int>(axis), "quantize in blocks along"));
  Dims blocks = x.dims;
  blocks[static_cast<size_t>(axis)] = CeilDiv(size, block_size);
  return CheckDims(scale, "the scale", blocks);
}

absl::Status CheckZeroPoint(const Node& node, DType dtype, const Dims& dims) {
  if (node.input(2) == nullptr) return absl::OkStatus();
  RETURN_IF_ERROR(CheckDType(InputType(node, 2), "the zero point", {dtype}));
  return CheckDims(InputType(node, 2), "the zero point", dims);
}

}  // namespace

TypesOr Quantize(const Node& node) {
  const TensorType& x = InputType(node);
  const TensorType& scale = InputType(node, 1);
  RETURN_IF_ERROR(CheckFloat(x, "the input"));
  RETURN_IF_ERROR(CheckFloat(scale, "the scale"));
  ASSIGN_OR_RETURN(const DType to, TargetDType(node));
  ASSIGN_OR_RETURN(const int64_t block_size, IntAttribute(node, "block_size", 0, 0));
  RETURN_IF_ERROR(ChoiceAttribute(node, "rounding", {"half_even", "half_away"}).status());
  RETURN_IF_ERROR(CheckScale(node, block_size));
  RETURN_IF_ERROR(CheckZeroPoint(node, to, scale.dims));
  return Types{TensorType(to, x.dims)};
}

TypesOr Dequantize(const Node& node) {
  const TensorType& x = InputType(node);
  const TensorType& scale = InputType(node, 1);
  RETURN_IF_ERROR(
      CheckDType(x, "the input", {DType::kI8, DType::kU8, DType::kI16, DType::kU16, DType::kI32}));
  RETURN_IF_ERROR(CheckFloat(scale, "the scale"));
  ASSIGN_OR_RETURN(const int64_t block_size, IntAttribute(node, "block_size", 0, 0));
  RETURN_IF_ERROR(CheckScale(node, block_size));
  RETURN_IF_ERROR(CheckZeroPoint(node, x.dtype, scale.dims));
  return Types{TensorType(scale.dtype, x.dims)};
}

TypesOr Requantize(const Node& node) {
  const TensorType& x = InputType(node);
  RETURN_IF_ERROR(CheckDType(x, "the input", {DType::kI32, DType::kI64}));
  ASSIGN_OR_RETURN(const std::string rounding,
                   ChoiceAttribute(node, "rounding", {"half_even", "half_away", "fixed_point"}));
  const TensorType& scale = InputType(node, 1);
  if (rounding == "fixed_point") {
    RETURN_IF_ERROR(CheckDType(scale, "the scale", {DType::kF64}));
  } else {
    RETURN_IF_ERROR(CheckDType(scale, "the scale", {DType::kF32, DType::kF64}));
  }
  const bool to_sum = rounding == "fixed_point" && node.attrs().Type("to") == DType::kI32;
  ASSIGN_OR_RETURN(const DType to, to_sum ? DType::kI32 : TargetDType(node));
  RETURN_IF_ERROR(CheckScale(node, 0));
  RETURN_IF_ERROR(CheckZeroPoint(node, to, {}));
  return Types{TensorType(to, x.dims)};
}

}  // namespace attune::infer
