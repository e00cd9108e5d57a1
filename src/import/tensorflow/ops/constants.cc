// Operators whose result follows from shapes and static arguments, and those whose output size depends on
// data.
#include <algorithm>
#include <cmath>
#include <utility>

#include "import/tensorflow/importer.h"
#include "import/tensorflow/ops/lowerings.h"

namespace attune::tensorflow {
namespace {

// The canonical result of a node whose output size depends on data; if the data is constant, the result as
// a constant, so that later nodes have static shapes.
Value* ConstantIfKnown(OpContext& c, Value* dynamic) {
  std::optional<Tensor> data = c.KnownConstant(dynamic);
  return data ? c.Constant(*std::move(data)) : dynamic;
}

Value* Integers(OpContext& c, const Ints& values, DType dtype) {
  return c.NewConstant(Tensor::FromInts(values, dtype));
}

}  // namespace

Outputs Constant(OpContext& c) { return {c.Constant(c.TensorAttribute("value"))}; }

// Its default, if it is not among the model's inputs.
Outputs PlaceholderWithDefault(OpContext& c) { return {c.BindingOf(0)}; }

Outputs UnfedPlaceholder(OpContext&) { Invalid("the signature needs it, but it is not among its inputs"); }

Outputs VariableHandle(OpContext& c) {
  Binding binding;
  binding.variable = &c.node();
  return {binding};
}

// A variable of the old kind is represented by its value.
Outputs VariableValue(OpContext& c) { return {c.importer().VariableValue(c.node(), c.graph())}; }
Outputs ReadVariable(OpContext& c) { return {c.VariableValue(0)}; }
Outputs VariableIsInitialized(OpContext& c) { return {c.Scalar(DType::kBool, 1)}; }

Outputs ShapeOfInput(OpContext& c) {
  return {Integers(c, c.InShape(0), c.TypeAttribute("out_type", DType::kI32))};
}

Outputs ShapesOfInputs(OpContext& c) {
  const DType dtype = c.TypeAttribute("out_type", DType::kI32);
  Outputs outputs;
  for (int i = 0; i < c.num_inputs(); ++i) outputs.emplace_back(Integers(c, c.InShape(i), dtype));
  return outputs;
}

Outputs VariableShape(OpContext& c) {
  return {Integers(c, c.ShapeOf(c.VariableValue(0)), c.TypeAttribute("out_type", DType::kI32))};
}

Outputs RankOfInput(OpContext& c) { return {c.Scalar(DType::kI32, c.InRank(0))}; }

Outputs SizeOfInput(OpContext& c) {
  return {c.Cast(c.Integer(Product(c.InShape(0))), c.TypeAttribute("out_type", DType::kI32))};
}

Outputs Fill(OpContext& c) { return {c.Broadcast(c.Reshape(c.In(1), {}), c.KnownInts(c.In(0), "shape"))}; }

Outputs ZerosLike(OpContext& c) { return {c.Filled(c.InType(0), 0, c.InShape(0))}; }
Outputs OnesLike(OpContext& c) { return {c.Filled(c.InType(0), 1, c.InShape(0))}; }
Outputs Empty(OpContext& c) { return {c.Filled(c.TypeAttribute("dtype"), 0, c.KnownInts(c.In(0), "shape"))}; }

// start + i delta for all i below the count, which must be known; the numbers need not be.
Outputs Range(OpContext& c) {
  const int64_t count = CountSteps(c.KnownScalar(c.In(0), "start"), c.KnownScalar(c.In(1), "limit"),
                                   c.KnownScalar(c.In(2), "delta"));
  Value* index = c.Count(c.InType(0), count);
  return {c.Add(c.Reshape(c.In(0), {}), c.Mul(index, c.Reshape(c.In(2), {})))};
}

// start + i (stop - start) / (count - 1)
Outputs LinSpace(OpContext& c) {
  const int64_t count = CheckedSize(c.KnownInt(c.In(2), "number of values"), "number of values", 1);
  Value* start = c.Reshape(c.In(0), {});
  if (count == 1) return {c.Reshape(start, {1})};
  Value* step = c.Div(c.Sub(c.Reshape(c.In(1), {}), start), static_cast<double>(count - 1));
  return {c.Add(start, c.Mul(c.Count(c.InType(0), count), step))};
}

// `on` where the index equals the position along `axis`, `off` elsewhere; an index out of range gives `off`
// everywhere.
Outputs OneHot(OpContext& c) {
  Value* indices = c.Cast(c.In(0), DType::kI64);  // their own type may not hold the depth
  const int64_t depth = CheckedSize(c.KnownInt(c.In(1), "depth"), "depth");
  const int64_t rank = indices->type().rank() + 1;
  const int64_t axis = Emitter::Axis(c.Int("axis", -1), rank);
  Shape classes(rank, 1);
  classes[axis] = depth;
  Value* ids = c.Reshape(c.Count(DType::kI64, depth), classes);
  Value* hit = c.Emit(Op::kEqual, {c.Unsqueeze(indices, {axis}), ids});
  return {c.Where(hit, c.Reshape(c.In(2), {}), c.Reshape(c.In(3), {}))};
}

// With one input: the positions of the nonzero elements, [n, rank].
Outputs Where(OpContext& c) {
  Value* x = c.In(0);
  if (x->type().rank() == 0) x = c.Reshape(x, {1});
  return {ConstantIfKnown(c, c.Transpose(c.Emit(Op::kNonZero, {x}), {1, 0}))};
}

// The distinct values in the order of their first occurrence, and for each element the index of its value.
Outputs Unique(OpContext& c) {
  if (c.InRank(0) != 1) Unsupported("unique slices of a tensor of rank ", c.InRank(0));
  if (c.op() == "UniqueV2" && Product(c.InShape(1)) == 1 && c.KnownInt(c.In(1), "axis") != 0) {
    Invalid("its axis is not 0");
  }
  Node* node = c.EmitNode(Op::kUnique, {c.In(0)}, {{"sorted", int64_t{0}}});
  const DType dtype = c.TypeAttribute("out_idx", DType::kI32);
  return {ConstantIfKnown(c, node->output(0)), c.Cast(ConstantIfKnown(c, node->output(2)), dtype)};
}

// Keeps the band from `lower` diagonals below the main one to `upper` above it; a negative number keeps
// all.
Outputs MatrixBandPart(OpContext& c) {
  Value* x = c.In(0);
  const Shape shape = c.InShape(0);
  if (shape.size() < 2) Invalid("its input has rank ", shape.size(), ", needs 2");
  const int64_t rows = shape[shape.size() - 2];
  const int64_t columns = shape.back();
  const int64_t lower = c.KnownInt(c.In(1), "number of lower diagonals");
  const int64_t upper = c.KnownInt(c.In(2), "number of upper diagonals");
  Value* offset = c.Sub(c.Reshape(c.Count(DType::kI64, columns), {1, columns}),
                        c.Reshape(c.Count(DType::kI64, rows), {rows, 1}));
  Value* zero = c.ScalarLike(x, 0);
  if (lower >= 0) {
    x = c.Where(c.Emit(Op::kGreaterEqual, {offset, c.Integer(-std::min(lower, rows))}), x, zero);
  }
  if (upper >= 0) {
    x = c.Where(c.Emit(Op::kLessEqual, {offset, c.Integer(std::min(upper, columns))}), x, zero);
  }
  return {x};
}

// Writes the values to the main diagonal of [n, n], zeros elsewhere.
Outputs MatrixDiagonal(OpContext& c) {
  Value* x = c.In(0);
  const Shape shape = c.InShape(0);
  if (shape.empty()) Invalid("its input is a single number");
  const int64_t size = shape.back();
  if (c.num_inputs() > 1) {
    const bool only_main =
        c.KnownInts(c.In(1), "diagonal") == Ints{0} && c.KnownInt(c.In(2), "number of rows") == -1 &&
        c.KnownInt(c.In(3), "number of columns") == -1 && c.KnownScalar(c.In(4), "padding value") == 0;
    if (!only_main) Unsupported("diagonals other than the main one");
  }
  Value* equal = c.Emit(Op::kEqual, {c.Reshape(c.Count(DType::kI64, size), {1, size}),
                                     c.Reshape(c.Count(DType::kI64, size), {size, 1})});
  return {c.Where(equal, c.Unsqueeze(x, {-1}), c.ScalarLike(x, 0))};
}

// The inverse of a permutation.
Outputs InvertPermutation(OpContext& c) {
  const Ints permutation = c.KnownInts(c.In(0), "permutation");
  const auto size = static_cast<int64_t>(permutation.size());
  Ints inverse(permutation.size(), -1);
  for (int64_t i = 0; i < size; ++i) {
    const int64_t target = permutation[static_cast<size_t>(i)];
    if (target < 0 || target >= size || inverse[target] >= 0) Invalid("its input is not a permutation");
    inverse[target] = i;
  }
  return {Integers(c, inverse, c.InType(0))};
}

// The shape to which two shapes broadcast.
Outputs BroadcastShapes(OpContext& c) {
  Ints a = c.KnownInts(c.In(0), "shape");
  Ints b = c.KnownInts(c.In(1), "shape");
  if (a.size() < b.size()) std::swap(a, b);
  const size_t shift = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    if (a[i + shift] == 1) {
      a[i + shift] = b[i];
    } else if (b[i] != 1 && b[i] != a[i + shift]) {
      Invalid("its shapes do not broadcast");
    }
  }
  return {Integers(c, a, c.InType(0))};
}

}  // namespace attune::tensorflow
