// Operators whose output size depends on the data: a symbol with the bound that the shapes give.
#include <algorithm>

#include "base/checked.h"
#include "graph/ops/checks.h"
#include "graph/ops/ops.h"

namespace attune::infer {

TypesOr NonZero(const Node& node) {
  const TensorType& x = InputType(node);
  RETURN_IF_ERROR(CheckConstantFrom(x, 0, "search over"));
  const Dim found = DataDependentDim(node, 1, x.num_elements());
  return Types{TensorType(DType::kI64, Dims{x.rank(), found})};
}

TypesOr NonMaxSuppression(const Node& node) {
  const TensorType& boxes = InputType(node);
  const TensorType& scores = InputType(node, 1);
  RETURN_IF_ERROR(CheckFloat(boxes, "the boxes tensor"));
  RETURN_IF_ERROR(CheckRank(boxes, "the boxes tensor", 3));
  RETURN_IF_ERROR(CheckConstantFrom(boxes, 0, "select over"));
  RETURN_IF_ERROR(CheckDims(boxes, "the boxes tensor", {boxes.dims[0], boxes.dims[1], 4}));
  RETURN_IF_ERROR(CheckSameDType(scores, "the scores tensor", boxes, "the boxes"));
  RETURN_IF_ERROR(CheckRank(scores, "the scores tensor", 3));
  RETURN_IF_ERROR(ConstantDim(scores, 1, "select over").status());
  if (scores.dims[0] != boxes.dims[0] || scores.dims[2] != boxes.dims[1]) {
    return InvalidInput("the scores ", ToString(scores), " do not go with the boxes ", ToString(boxes));
  }
  RETURN_IF_ERROR(BoolAttribute(node, "center_point_box", false).status());
  const int64_t max_per_class = node.attrs().Int("max_per_class");
  if (max_per_class < 0) return InvalidInput("max_per_class is ", max_per_class, ", must not be negative");
  ASSIGN_OR_RETURN(const int64_t bound, Product({boxes.dims[0].size, scores.dims[1].size,
                                                 std::min(boxes.dims[1].size, max_per_class)},
                                                "the number of boxes"));
  return Types{TensorType(DType::kI64, Dims{DataDependentDim(node, 0, bound), 3})};
}

TypesOr Compress(const Node& node) {
  const TensorType& x = InputType(node);
  const TensorType& condition = InputType(node, 1);
  ASSIGN_OR_RETURN(const int axis, AxisAttribute(node, x.rank()));
  ASSIGN_OR_RETURN(const int64_t size, ConstantDim(x, axis, "select along"));
  RETURN_IF_ERROR(CheckDType(condition, "the condition", {DType::kBool}));
  RETURN_IF_ERROR(CheckRank(condition, "the condition", 1));
  ASSIGN_OR_RETURN(const int64_t length, ConstantDim(condition, 0, "select with"));
  if (length > size) {
    return InvalidInput("the condition ", ToString(condition), " is longer than axis ", axis, " of ",
                        ToString(x));
  }
  TensorType result(x.dtype, x.dims);
  result.dims[static_cast<size_t>(axis)] = DataDependentDim(node, axis, length);
  return Types{result};
}

TypesOr Unique(const Node& node) {
  const TensorType& x = InputType(node);
  RETURN_IF_ERROR(CheckRank(x, "the input", 1));
  ASSIGN_OR_RETURN(const int64_t size, ConstantDim(x, 0, "search over"));
  RETURN_IF_ERROR(BoolAttribute(node, "sorted", true).status());
  const Dim found = DataDependentDim(node, 0, size);
  const TensorType one_each(DType::kI64, Dims{found});
  return Types{TensorType(x.dtype, Dims{found}), one_each, TensorType(DType::kI64, x.dims), one_each};
}

}  // namespace attune::infer
