// Tensors that are created from numbers known at import, or from a single number.
#include <utility>

#include "import/tflite/ops/lowerings.h"

namespace attune::tflite {
namespace {

// True on the diagonal of a matrix with these numbers of rows and columns.
Value* Diagonal(OpContext& c, int64_t rows, int64_t columns) {
  Value* row = c.Reshape(c.Count(DType::kI32, rows), {rows, 1});
  return c.Emit(Op::kEqual, {row, c.Count(DType::kI32, columns)});
}

}  // namespace

Outputs ShapeOfInput(OpContext& c) { return {c.NewConstant(Tensor::FromInts(c.InShape(0), c.OutType()))}; }

Outputs RankOfInput(OpContext& c) { return {c.Scalar(c.OutType(), c.InRank(0))}; }

Outputs Fill(OpContext& c) {
  const Shape shape = c.KnownInts(0, "shape");
  for (int64_t dim : shape) CheckedSize(dim, "dimension");
  return {c.Broadcast(c.Reshape(c.Stored(1), {}), shape)};
}

Outputs Range(OpContext& c) {
  const ExactNumber start = c.KnownScalar(0, "start"), step = c.KnownScalar(2, "step");
  Value* numbers = c.Count(c.OutType(), CountSteps(start, c.KnownScalar(1, "limit"), step));
  return {c.Add(c.Mul(numbers, step), start)};
}

Outputs ZerosLike(OpContext& c) { return {c.Filled(c.InType(0), 0, c.InShape(0))}; }

// (indices, depth, on, off). An index out of range gives `off` everywhere.
Outputs OneHot(OpContext& c) {
  const int64_t rank = c.InRank(0);
  const int64_t depth = CheckedSize(c.KnownInt(1, "depth"), "depth");
  const int64_t axis = Emitter::Axis(c.Options<schema::OneHotOptions>().axis(), rank + 1);
  Shape along(rank + 1, 1);
  along[axis] = depth;
  Value* indices = c.Unsqueeze(c.Stored(0), {axis});
  Value* hit = c.Emit(Op::kEqual, {indices, c.Reshape(c.Count(c.InType(0), depth), along)});
  return {c.Where(hit, c.Reshape(c.Stored(2), {}), c.Reshape(c.Stored(3), {}))};
}

Outputs MatrixDiag(OpContext& c) {
  Value* x = c.Stored(0);
  const int64_t size = c.DimOf(x, -1);
  return {c.Where(Diagonal(c, size, size), c.Unsqueeze(x, {c.InRank(0)}), c.ScalarLike(x, 0))};
}

// The diagonal has as many elements as the shorter axis: they broadcast along the longer one.
Outputs MatrixSetDiag(OpContext& c) {
  Value* x = c.Stored(0);
  if (c.InRank(0) < 2) Invalid("its input is ", ToString(x->type()), ", which has no diagonal");
  const int64_t rows = c.DimOf(x, -2);
  const int64_t columns = c.DimOf(x, -1);
  const int64_t axis = rows <= columns ? c.InRank(1) : c.InRank(1) - 1;
  return {c.Where(Diagonal(c, rows, columns), c.Unsqueeze(c.Stored(1), {axis}), x)};
}

// The shape that results from broadcasting two shapes.
Outputs BroadcastArgs(OpContext& c) {
  Ints a = c.KnownInts(0, "first shape");
  Ints b = c.KnownInts(1, "second shape");
  if (a.size() < b.size()) std::swap(a, b);
  for (size_t i = 0; i < b.size(); ++i) {
    int64_t& dim = a[a.size() - b.size() + i];
    if (dim == 1) dim = b[i];
    if (b[i] != 1 && b[i] != dim) Invalid("its shapes do not broadcast");
  }
  return {c.NewConstant(Tensor::FromInts(a, c.OutType()))};
}

}  // namespace attune::tflite
