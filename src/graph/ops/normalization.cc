// Normalizations: the output has the input's type.
#include "graph/ops/checks.h"
#include "graph/ops/ops.h"

namespace attune::infer {
namespace {

absl::Status CheckEpsilon(const Node& node) {
  const double epsilon = node.attrs().Float("epsilon");
  if (epsilon >= 0 && epsilon < 1e30) return absl::OkStatus();
  return InvalidInput("epsilon is ", epsilon, ", must be a number and not negative");
}

// Checks that input i, where present, has x's dtype and the shape `dims`.
absl::Status CheckParameter(const Node& node, int i, std::string_view what, const Dims& dims) {
  if (node.input(i) == nullptr) return absl::OkStatus();
  RETURN_IF_ERROR(CheckSameDType(InputType(node, i), what, InputType(node), "the input"));
  return CheckDims(InputType(node, i), what, dims);
}

// Normalizes over `axis` and all axes after it, with a scale and a bias of their shape.
TypesOr NormalizeTail(const Node& node) {
  const TensorType& x = InputType(node);
  RETURN_IF_ERROR(CheckFloat(x, "the input"));
  RETURN_IF_ERROR(CheckEpsilon(node));
  ASSIGN_OR_RETURN(const int axis, AxisAttribute(node, x.rank()));
  RETURN_IF_ERROR(CheckConstantFrom(x, axis, "normalize over"));
  const Dims tail(x.dims.begin() + axis, x.dims.end());
  RETURN_IF_ERROR(CheckParameter(node, 1, "the scale", tail));
  RETURN_IF_ERROR(CheckParameter(node, 2, "the bias", tail));
  return Types{TensorType(x.dtype, x.dims)};
}

}  // namespace

TypesOr BatchNorm(const Node& node) {
  const TensorType& x = InputType(node);
  RETURN_IF_ERROR(CheckFloat(x, "the input"));
  RETURN_IF_ERROR(CheckMinRank(x, "the input", 2));
  RETURN_IF_ERROR(CheckEpsilon(node));
  constexpr std::string_view kNames[] = {"the input", "the scale", "the bias", "the mean", "the variance"};
  for (int i = 1; i < 5; ++i) RETURN_IF_ERROR(CheckParameter(node, i, kNames[i], {x.dims[1]}));
  return Types{TensorType(x.dtype, x.dims)};
}

TypesOr LayerNorm(const Node& node) { return NormalizeTail(node); }

TypesOr RmsNorm(const Node& node) { return NormalizeTail(node); }

TypesOr GroupNorm(const Node& node) {
  const TensorType& x = InputType(node);
  RETURN_IF_ERROR(CheckFloat(x, "the input"));
  RETURN_IF_ERROR(CheckMinRank(x, "the input", 2));
  RETURN_IF_ERROR(CheckEpsilon(node));
  RETURN_IF_ERROR(CheckConstantFrom(x, 1, "normalize over"));
  ASSIGN_OR_RETURN(const int64_t groups, IntAttribute(node, "groups", 0, 1));
  if (x.dims[1].size % groups != 0) {
    return InvalidInput("the ", x.dims[1].size, " channels of ", ToString(x), " do not divide into ", groups,
                        " groups");
  }
  RETURN_IF_ERROR(CheckParameter(node, 1, "the scale", {x.dims[1]}));
  RETURN_IF_ERROR(CheckParameter(node, 2, "the bias", {x.dims[1]}));
  return Types{TensorType(x.dtype, x.dims)};
}

TypesOr Softmax(const Node& node) {
  const TensorType& x = InputType(node);
  RETURN_IF_ERROR(CheckFloat(x, "the input"));
  ASSIGN_OR_RETURN(const int axis, AxisAttribute(node, x.rank()));
  RETURN_IF_ERROR(ConstantDim(x, axis, "normalize over").status());
  return Types{TensorType(x.dtype, x.dims)};
}

}  // namespace attune::infer
