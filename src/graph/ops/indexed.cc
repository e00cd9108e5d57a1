// Gathers and scatters. Indices are i32 or i64.
#include "graph/ops/checks.h"
#include "graph/ops/ops.h"

namespace attune::infer {
namespace {

absl::Status CheckIndices(const TensorType& indices) {
  return CheckDType(indices, "the indices tensor", {DType::kI32, DType::kI64});
}

// Checks that `indices`, of x's rank, does not reach beyond x along any axis but `axis`.
absl::Status CheckIndicesWithin(const TensorType& x, const TensorType& indices, int axis) {
  RETURN_IF_ERROR(CheckIndices(indices));
  RETURN_IF_ERROR(CheckRank(indices, "the indices tensor", x.rank()));
  RETURN_IF_ERROR(ConstantDim(x, axis, "index").status());
  for (int i = 0; i < x.rank(); ++i) {
    const Dim& own = x.dims[static_cast<size_t>(i)];
    const Dim& index = indices.dims[static_cast<size_t>(i)];
    if (i == axis || index == own) continue;
    RETURN_IF_ERROR(ConstantDim(x, i, "index into a part of").status());
    if (index.size > own.size) {
      return InvalidInput("the indices ", ToString(indices), " reach beyond ", ToString(x), " along axis ",
                          i);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckReduction(const Node& node) {
  ASSIGN_OR_RETURN(const std::string reduction,
                   ChoiceAttribute(node, "reduction", {"none", "add", "mul", "min", "max"}));
  if (reduction == "none") return absl::OkStatus();
  return CheckNumber(InputType(node), "the input");
}

// How many indices make one position: the last dimension of `indices`. They index axes `first` and
// following of `x`.
absl::StatusOr<int> TupleSize(const TensorType& x, const TensorType& indices, int first) {
  RETURN_IF_ERROR(CheckIndices(indices));
  RETURN_IF_ERROR(CheckMinRank(indices, "the indices tensor", first + 1));
  ASSIGN_OR_RETURN(const int64_t size, ConstantDim(indices, indices.rank() - 1, "index with"));
  if (size < 1 || size > x.rank() - first) {
    return InvalidInput("the indices ", ToString(indices), " hold positions of ", size, " axes, ",
                        ToString(x), " has ", x.rank() - first);
  }
  for (int i = 0; i < size; ++i) RETURN_IF_ERROR(ConstantDim(x, first + i, "index").status());
  return static_cast<int>(size);
}

}  // namespace

TypesOr Gather(const Node& node) {
  const TensorType& x = InputType(node);
  const TensorType& indices = InputType(node, 1);
  RETURN_IF_ERROR(CheckIndices(indices));
  ASSIGN_OR_RETURN(const int axis, AxisAttribute(node, x.rank()));
  RETURN_IF_ERROR(ConstantDim(x, axis, "gather along").status());
  TensorType result(x.dtype, Dims(x.dims.begin(), x.dims.begin() + axis));
  result.dims.insert(result.dims.end(), indices.dims.begin(), indices.dims.end());
  result.dims.insert(result.dims.end(), x.dims.begin() + axis + 1, x.dims.end());
  return Types{result};
}

TypesOr GatherElements(const Node& node) {
  const TensorType& x = InputType(node);
  const TensorType& indices = InputType(node, 1);
  ASSIGN_OR_RETURN(const int axis, AxisAttribute(node, x.rank()));
  RETURN_IF_ERROR(CheckIndicesWithin(x, indices, axis));
  return Types{TensorType(x.dtype, indices.dims)};
}

TypesOr GatherNd(const Node& node) {
  const TensorType& x = InputType(node);
  const TensorType& indices = InputType(node, 1);
  ASSIGN_OR_RETURN(const int64_t batch, IntAttribute(node, "batch_dims", 0, 0, x.rank()));
  const int batch_dims = static_cast<int>(batch);
  ASSIGN_OR_RETURN(const int tuple, TupleSize(x, indices, batch_dims));
  for (size_t i = 0; i < static_cast<size_t>(batch_dims); ++i) {
    if (x.dims[i] != indices.dims[i]) {
      return InvalidInput("the batch dimensions of the input ", ToString(x), " and of the indices ",
                          ToString(indices), " differ");
    }
  }
  TensorType result(x.dtype, Dims(indices.dims.begin(), indices.dims.end() - 1));
  result.dims.insert(result.dims.end(), x.dims.begin() + batch_dims + tuple, x.dims.end());
  return Types{result};
}

TypesOr ScatterElements(const Node& node) {
  const TensorType& x = InputType(node);
  const TensorType& indices = InputType(node, 1);
  const TensorType& updates = InputType(node, 2);
  RETURN_IF_ERROR(CheckReduction(node));
  ASSIGN_OR_RETURN(const int axis, AxisAttribute(node, x.rank()));
  RETURN_IF_ERROR(CheckIndicesWithin(x, indices, axis));
  RETURN_IF_ERROR(CheckSameDType(updates, "the updates tensor", x, "the input"));
  RETURN_IF_ERROR(CheckDims(updates, "the updates tensor", indices.dims));
  return Types{TensorType(x.dtype, x.dims)};
}

TypesOr ScatterNd(const Node& node) {
  const TensorType& x = InputType(node);
  const TensorType& indices = InputType(node, 1);
  const TensorType& updates = InputType(node, 2);
  RETURN_IF_ERROR(CheckReduction(node));
  ASSIGN_OR_RETURN(const int tuple, TupleSize(x, indices, 0));
  Dims expected(indices.dims.begin(), indices.dims.end() - 1);
  expected.insert(expected.end(), x.dims.begin() + tuple, x.dims.end());
  RETURN_IF_ERROR(CheckSameDType(updates, "the updates tensor", x, "the input"));
  RETURN_IF_ERROR(CheckDims(updates, "the updates tensor", expected));
  return Types{TensorType(x.dtype, x.dims)};
}

TypesOr CheckIndex(const Node& node) {
  const TensorType& indices = InputType(node);
  RETURN_IF_ERROR(CheckIndices(indices));
  RETURN_IF_ERROR(BoolAttribute(node, "negative", true).status());
  const Ints& sizes = node.attrs().IntList("sizes");
  if (sizes.empty()) return InvalidInput("no size of an axis");
  for (const int64_t size : sizes) {
    if (size < 0) return InvalidInput("an axis of size ", size);
  }
  if (sizes.size() == 1) return Types{indices};
  RETURN_IF_ERROR(CheckMinRank(indices, "the indices tensor", 1));
  ASSIGN_OR_RETURN(const int64_t columns, ConstantDim(indices, indices.rank() - 1, "index with"));
  if (columns != std::ssize(sizes)) {
    return InvalidInput("the indices ", ToString(indices), " hold positions of ", columns, " axes, not ",
                        sizes.size());
  }
  return Types{indices};
}

}  // namespace attune::infer
