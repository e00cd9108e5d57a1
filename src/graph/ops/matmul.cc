// Matrix products, attention and determinants: operators on the last two dimensions.
#include <utility>

#include "graph/infer.h"
#include "graph/ops/checks.h"
#include "graph/ops/ops.h"

namespace attune::infer {
namespace {

struct Matrices {
  Dims batch;
  Dim rows;
  Dim columns;
};

absl::StatusOr<Matrices> ReadMatrices(const TensorType& type, std::string_view what, bool transpose) {
  RETURN_IF_ERROR(CheckMinRank(type, what, 2));
  Matrices matrices{Dims(type.dims.begin(), type.dims.end() - 2), type.dims[type.dims.size() - 2],
                    type.dims.back()};
  if (transpose) std::swap(matrices.rows, matrices.columns);
  return matrices;
}

// The shape of the product of inputs 0 and 1.
absl::StatusOr<Dims> ProductDims(const Node& node) {
  const TensorType& a_type = InputType(node, 0);
  const TensorType& b_type = InputType(node, 1);
  ASSIGN_OR_RETURN(const bool transpose_a, BoolAttribute(node, "transpose_a", false));
  ASSIGN_OR_RETURN(const bool transpose_b, BoolAttribute(node, "transpose_b", false));
  ASSIGN_OR_RETURN(const Matrices a, ReadMatrices(a_type, "the first input", transpose_a));
  ASSIGN_OR_RETURN(const Matrices b, ReadMatrices(b_type, "the second input", transpose_b));
  if (!a.columns.is_constant() || !b.rows.is_constant()) {
    return NotSupported("cannot contract the dynamic dimension of ", ToString(a_type), " and ",
                        ToString(b_type));
  }
  if (a.columns != b.rows) {
    return InvalidInput("the first input ", ToString(a_type), transpose_a ? " transposed" : "", " has ",
                        a.columns.size, " columns, the second ", ToString(b_type),
                        transpose_b ? " transposed" : "", " has ", b.rows.size, " rows");
  }
  ASSIGN_OR_RETURN(Dims dims, BroadcastDims(a.batch, b.batch));
  dims.push_back(a.rows);
  dims.push_back(b.columns);
  return dims;
}

// The zero point of `of`: a scalar, or one value for each of `size` rows or columns.
absl::Status CheckZeroPoint(const Node& node, int i, std::string_view what, const TensorType& of,
                            const Dim& size) {
  if (node.input(i) == nullptr) return absl::OkStatus();
  const TensorType& zero = InputType(node, i);
  RETURN_IF_ERROR(CheckSameDType(zero, what, of, "its input"));
  return zero.rank() == 0 ? absl::OkStatus() : CheckDims(zero, what, {size});
}

}  // namespace

TypesOr MatMul(const Node& node) {
  const TensorType& a = InputType(node);
  RETURN_IF_ERROR(CheckNumber(a, "the first input"));
  RETURN_IF_ERROR(CheckSameDType(InputType(node, 1), "the second input", a, "the first"));
  ASSIGN_OR_RETURN(const DType dtype, SumType(node, a.dtype));
  ASSIGN_OR_RETURN(Dims dims, ProductDims(node));
  return Types{TensorType(dtype, std::move(dims))};
}

TypesOr MatMulInteger(const Node& node) {
  const TensorType& a = InputType(node, 0);
  const TensorType& b = InputType(node, 1);
  RETURN_IF_ERROR(CheckDType(a, "the first input", {DType::kU8, DType::kI8, DType::kI16}));
  RETURN_IF_ERROR(CheckDType(b, "the second input", {DType::kU8, DType::kI8, DType::kI16}));
  ASSIGN_OR_RETURN(Dims dims, ProductDims(node));
  RETURN_IF_ERROR(CheckZeroPoint(node, 2, "the first zero point", a, dims[dims.size() - 2]));
  RETURN_IF_ERROR(CheckZeroPoint(node, 3, "the second zero point", b, dims.back()));
  return Types{TensorType(DType::kI32, std::move(dims))};
}

TypesOr Attention(const Node& node) {
  const TensorType& q = InputType(node, 0);
  const TensorType& k = InputType(node, 1);
  const TensorType& v = InputType(node, 2);
  RETURN_IF_ERROR(CheckFloat(q, "the query"));
  RETURN_IF_ERROR(CheckRank(q, "the query", 4));
  RETURN_IF_ERROR(CheckSameDType(k, "the key", q, "the query"));
  RETURN_IF_ERROR(CheckRank(k, "the key", 4));
  RETURN_IF_ERROR(CheckSameDType(v, "the value", q, "the query"));
  RETURN_IF_ERROR(CheckRank(v, "the value", 4));
  RETURN_IF_ERROR(CheckConstantFrom(k, 2, "attend over"));
  RETURN_IF_ERROR(ConstantDim(v, 3, "attend over").status());
  RETURN_IF_ERROR(CheckDims(k, "the key", {q.dims[0], q.dims[1], k.dims[2], q.dims[3]}));
  RETURN_IF_ERROR(CheckDims(v, "the value", {q.dims[0], q.dims[1], k.dims[2], v.dims[3]}));
  if (node.input(3) != nullptr) {
    const TensorType& mask = InputType(node, 3);
    RETURN_IF_ERROR(CheckFloat(mask, "the mask"));
    const Dims scores{q.dims[0], q.dims[1], q.dims[2], k.dims[2]};
    const absl::StatusOr<Dims> broadcast = BroadcastDims(mask.dims, scores);
    if (!broadcast.ok() || *broadcast != scores) {
      return InvalidInput("the mask ", ToString(mask), " does not broadcast to the scores ",
                          ToString(scores));
    }
  }
  return Types{TensorType(q.dtype, Dims{q.dims[0], q.dims[1], q.dims[2], v.dims[3]})};
}

TypesOr Det(const Node& node) {
  const TensorType& x = InputType(node);
  RETURN_IF_ERROR(CheckFloat(x, "the input"));
  ASSIGN_OR_RETURN(Matrices matrices, ReadMatrices(x, "the input", false));
  RETURN_IF_ERROR(CheckConstantFrom(x, x.rank() - 2, "eliminate over"));
  if (matrices.rows != matrices.columns)
    return InvalidInput("the matrices of ", ToString(x), " are not square");
  return Types{TensorType(x.dtype, std::move(matrices.batch))};
}

}  // namespace attune::infer
