// Reductions, scans and sorting along axes.
#include <algorithm>

#include "graph/ops/checks.h"
#include "graph/ops/ops.h"

namespace attune::infer {
namespace {

// `x` without the axes marked in `reduced`, or (keepdims) with 1 in their place.
TypesOr Reduced(const Node& node, const std::vector<bool>& reduced, DType dtype) {
  const TensorType& x = InputType(node);
  ASSIGN_OR_RETURN(const bool keepdims, BoolAttribute(node, "keepdims", true));
  TensorType result(dtype, Dims());
  for (size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i]) {
      result.dims.push_back(x.dims[i]);
      continue;
    }
    RETURN_IF_ERROR(ConstantDim(x, static_cast<int>(i), "reduce over").status());
    if (keepdims) result.dims.emplace_back(1);
  }
  return Types{result};
}

TypesOr ReduceAxes(const Node& node) {
  const TensorType& x = InputType(node);
  const Ints& axes = node.attrs().IntList("axes");
  std::vector<bool> reduced(static_cast<size_t>(x.rank()));
  int64_t previous = -1;
  for (int64_t axis : axes) {
    if (axis < 0 || axis >= x.rank()) {
      return InvalidInput("axes has the value ", axis, ", which is not an axis of ", ToString(x));
    }
    if (axis <= previous) return InvalidInput("axes must be ascending, has ", axis, " after ", previous);
    previous = axis;
    reduced[static_cast<size_t>(axis)] = true;
  }
  return Reduced(node, reduced, x.dtype);
}

}  // namespace

TypesOr ReduceNumber(const Node& node) {
  RETURN_IF_ERROR(CheckNumber(InputType(node), "the input"));
  return ReduceAxes(node);
}

TypesOr ReduceExtreme(const Node& node) { return ReduceAxes(node); }

TypesOr ArgExtreme(const Node& node) {
  const TensorType& x = InputType(node);
  RETURN_IF_ERROR(CheckNumber(x, "the input"));
  RETURN_IF_ERROR(BoolAttribute(node, "select_last", false).status());
  ASSIGN_OR_RETURN(const int axis, AxisAttribute(node, x.rank()));
  if (x.dims[static_cast<size_t>(axis)] == Dim(0)) {
    return InvalidInput("nothing to choose from along axis ", axis, " of ", ToString(x));
  }
  std::vector<bool> reduced(static_cast<size_t>(x.rank()));
  reduced[static_cast<size_t>(axis)] = true;
  return Reduced(node, reduced, DType::kI64);
}

TypesOr Scan(const Node& node) {
  const TensorType& x = InputType(node);
  RETURN_IF_ERROR(CheckNumber(x, "the input"));
  RETURN_IF_ERROR(BoolAttribute(node, "exclusive", false).status());
  RETURN_IF_ERROR(BoolAttribute(node, "reverse", false).status());
  ASSIGN_OR_RETURN(const int axis, AxisAttribute(node, x.rank()));
  RETURN_IF_ERROR(ConstantDim(x, axis, "accumulate along").status());
  return Types{TensorType(x.dtype, x.dims)};
}

TypesOr TopK(const Node& node) {
  const TensorType& x = InputType(node);
  RETURN_IF_ERROR(CheckNumber(x, "the input"));
  RETURN_IF_ERROR(BoolAttribute(node, "largest", true).status());
  RETURN_IF_ERROR(BoolAttribute(node, "sorted", true).status());
  ASSIGN_OR_RETURN(const int axis, AxisAttribute(node, x.rank()));
  ASSIGN_OR_RETURN(const int64_t size, ConstantDim(x, axis, "sort along"));
  const int64_t k = node.attrs().Int("k");
  if (k < 0 || k > size) return InvalidInput("k is ", k, ", axis ", axis, " of ", ToString(x), " has ", size);
  Dims dims = x.dims;
  dims[static_cast<size_t>(axis)] = k;
  return Types{TensorType(x.dtype, dims), TensorType(DType::kI64, dims)};
}

}  // namespace attune::infer
