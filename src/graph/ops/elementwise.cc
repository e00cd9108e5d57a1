// Operators that compute each element of the output from one element of each input.
#include <algorithm>

#include "graph/infer.h"
#include "graph/ops/checks.h"
#include "graph/ops/ops.h"

namespace attune::infer {
namespace {

// The size of the axis of `type` that broadcasting lays over axis `axis` of `rank` dimensions.
Dim AlignedDim(const TensorType& type, int axis, int rank) {
  const int own = axis - (rank - type.rank());
  return own < 0 ? Dim(1) : type.dims[static_cast<size_t>(own)];
}

// The layout of the result of shape `dims`. Inputs with a blocked layout that have the result's blocked
// axis must all have the same layout. Plain inputs, and inputs that are broadcast along that axis, go with
// any.
absl::StatusOr<Layout> ResultLayout(const Node& node, const Dims& dims) {
  const int rank = static_cast<int>(dims.size());
  Layout layout;
  for (const Value* input : node.inputs()) {
    const TensorType& type = input->type();
    if (type.layout.is_plain()) continue;
    Layout aligned = type.layout;
    aligned.blocked_axis += rank - type.rank();
    const size_t axis = static_cast<size_t>(aligned.blocked_axis);
    if (AlignedDim(type, aligned.blocked_axis, rank) != dims[axis]) continue;
    if (!layout.is_plain() && aligned != layout) {
      return InvalidInput("the inputs ", ToString(InputType(node, 0)), " and ", ToString(InputType(node, 1)),
                          " are blocked differently");
    }
    layout = aligned;
  }
  return layout;
}

// The inputs' shapes broadcast, as `dtype`.
TypesOr Elementwise(const Node& node, DType dtype) {
  TensorType result(dtype, InputType(node).dims);
  for (int i = 1; i < node.num_inputs(); ++i) {
    ASSIGN_OR_RETURN(result.dims, BroadcastDims(result.dims, InputType(node, i).dims));
  }
  ASSIGN_OR_RETURN(result.layout, ResultLayout(node, result.dims));
  return Types{result};
}

absl::Status CheckLogical(const TensorType& type) {
  if (type.dtype == DType::kBool || IsInt(type.dtype)) return absl::OkStatus();
  return InvalidInput("the input is ", ToString(type), ", must be of bools or integers");
}

absl::Status CheckEqualDTypes(const Node& node) {
  return CheckSameDType(InputType(node, 1), "the second input", InputType(node), "the first");
}

}  // namespace

TypesOr Constant(const Node& node) {
  const Tensor& value = node.attrs().TensorValue("value");
  return Types{TensorType(value.dtype(), value.shape())};
}

TypesOr Identity(const Node& node) { return Types{InputType(node)}; }

TypesOr UnaryFloat(const Node& node) {
  RETURN_IF_ERROR(CheckFloat(InputType(node), "the input"));
  return Types{InputType(node)};
}

TypesOr UnaryNumber(const Node& node) {
  RETURN_IF_ERROR(CheckNumber(InputType(node), "the input"));
  return Types{InputType(node)};
}

TypesOr UnarySigned(const Node& node) {
  const TensorType& x = InputType(node);
  if (IsFloat(x.dtype) || IsSignedInt(x.dtype)) return Types{x};
  return InvalidInput("the input is ", ToString(x), ", must be of floats or signed integers");
}

TypesOr UnaryTest(const Node& node) {
  RETURN_IF_ERROR(CheckFloat(InputType(node), "the input"));
  return Elementwise(node, DType::kBool);
}

TypesOr Gelu(const Node& node) {
  RETURN_IF_ERROR(ChoiceAttribute(node, "approximate", {"none", "tanh"}).status());
  return UnaryFloat(node);
}

TypesOr Not(const Node& node) {
  RETURN_IF_ERROR(CheckLogical(InputType(node)));
  return Types{InputType(node)};
}

TypesOr Cast(const Node& node) { return Elementwise(node, node.attrs().Type("to")); }

TypesOr BinaryNumber(const Node& node) {
  RETURN_IF_ERROR(CheckNumber(InputType(node), "the first input"));
  RETURN_IF_ERROR(CheckEqualDTypes(node));
  return Elementwise(node, InputType(node).dtype);
}

TypesOr Pow(const Node& node) {
  RETURN_IF_ERROR(CheckNumber(InputType(node, 0), "the base"));
  RETURN_IF_ERROR(CheckNumber(InputType(node, 1), "the exponent"));
  return Elementwise(node, InputType(node).dtype);
}

TypesOr BinaryLogical(const Node& node) {
  RETURN_IF_ERROR(CheckLogical(InputType(node)));
  RETURN_IF_ERROR(CheckEqualDTypes(node));
  return Elementwise(node, InputType(node).dtype);
}

TypesOr Shift(const Node& node) {
  const TensorType& x = InputType(node);
  const bool is_quotient = node.op() == Op::kShiftRight && (x.dtype == DType::kI32 || x.dtype == DType::kI64);
  if (!IsUnsignedInt(x.dtype) && !is_quotient) {
    return InvalidInput("the input is ", ToString(x), ", must be of unsigned integers");
  }
  RETURN_IF_ERROR(CheckEqualDTypes(node));
  return Elementwise(node, x.dtype);
}

TypesOr MulHigh(const Node& node) {
  RETURN_IF_ERROR(CheckDType(InputType(node), "the first input", {DType::kI32}));
  RETURN_IF_ERROR(CheckEqualDTypes(node));
  return Elementwise(node, DType::kI32);
}

TypesOr Equal(const Node& node) {
  RETURN_IF_ERROR(CheckEqualDTypes(node));
  return Elementwise(node, DType::kBool);
}

TypesOr Compare(const Node& node) {
  RETURN_IF_ERROR(CheckNumber(InputType(node), "the first input"));
  return Equal(node);
}

TypesOr Where(const Node& node) {
  RETURN_IF_ERROR(CheckDType(InputType(node), "the condition", {DType::kBool}));
  const TensorType& then = InputType(node, 1);
  RETURN_IF_ERROR(CheckSameDType(InputType(node, 2), "the third input", then, "the second"));
  return Elementwise(node, then.dtype);
}

}  // namespace attune::infer
