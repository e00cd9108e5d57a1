// Operators whose result follows from shapes and static arguments, and those whose output size depends on
// data.
#include <algorithm>
#include <cmath>

#include "import/common/listed_operator.h"
#include "import/onnx/ops/lowerings.h"

namespace attune::onnx {
namespace {

// A tensor of floats from an attribute, with rank 0 or 1.
Value* FloatConstant(OpContext& c, const std::vector<double>& values, const Shape& shape) {
  const std::vector<float> floats(values.begin(), values.end());
  return c.Constant(Tensor::FromFloats(floats, shape));
}

// The canonical result of a node whose output size depends on data; if the data is constant, the result as
// a constant, so that later nodes have static shapes.
Value* ConstantIfKnown(OpContext& c, Value* dynamic) {
  std::optional<Tensor> data = c.KnownConstant(dynamic);
  return data ? c.Constant(*std::move(data)) : dynamic;
}

// [rows, columns]: column - row.
Value* DiagonalOffsets(OpContext& c, int64_t rows, int64_t columns) {
  return c.Sub(c.Reshape(c.Count(DType::kI64, columns), {1, columns}),
               c.Reshape(c.Count(DType::kI64, rows), {rows, 1}));
}

}  // namespace

Outputs Constant(OpContext& c) {
  if (c.Has("value")) {
    Binding constant = c.Constant(c.TensorAttribute("value"));
    constant.type = c.Find("value")->t().data_type();
    return {constant};
  }
  if (const AttributeProto* sparse = c.Find("sparse_value"))
    return {c.SparseConstant(sparse->sparse_tensor())};
  if (c.Has("value_int")) return {c.Integer(c.Int("value_int"))};
  if (const auto ints = c.IntList("value_ints")) return {c.IntVector(*ints)};
  if (c.Has("value_float")) return {c.Scalar(DType::kF32, c.Float("value_float"))};
  if (const auto floats = c.FloatList("value_floats")) {
    return {FloatConstant(c, *floats, {static_cast<int64_t>(floats->size())})};
  }
  if (c.Has("value_string") || c.Has("value_strings")) Unsupported("elements of STRING");
  Invalid("it has no value");
}

Outputs ConstantOfShape(OpContext& c) {
  const Shape shape = c.KnownInts(c.In(0), "shape");
  if (!c.Has("value")) return {c.Filled(DType::kF32, 0, shape)};
  const Tensor value = c.TensorAttribute("value");
  if (value.num_elements() != 1) Invalid("its value must be a single number");
  return {c.Broadcast(c.Constant(value.Reshaped({})), shape)};
}

Outputs ShapeOfInput(OpContext& c) {
  const Shape shape = c.In(0)->type().shape();
  const int64_t rank = static_cast<int64_t>(shape.size());
  const auto clamp = [rank](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  const int64_t start = clamp(c.Int("start", 0));
  const int64_t end = std::max(start, clamp(c.Int("end", rank)));
  for (int64_t i = start; i < end; ++i) {
    if (!c.In(0)->type().dims[i].is_constant()) c.ShapeOf(c.In(0));  // throws
  }
  return {c.IntVector(Ints(shape.begin() + start, shape.begin() + end))};
}

Outputs SizeOfInput(OpContext& c) { return {c.Integer(Product(c.InShape(0)))}; }

// start + i delta for all i below the count, which must be known; the numbers need not be.
Outputs Range(OpContext& c) {
  const DType dtype = c.InType(0);
  Value* index = c.Count(dtype, CountSteps(c.KnownScalar(c.In(0), "start"), c.KnownScalar(c.In(1), "limit"),
                                           c.KnownScalar(c.In(2), "delta")));
  return {c.Add(c.Reshape(c.In(0), {}), c.Mul(index, c.Reshape(c.In(2), {})))};
}

Outputs EyeLike(OpContext& c) {
  const Shape shape = c.InShape(0);
  if (shape.size() != 2) Invalid("its input has rank ", shape.size(), ", not 2");
  const DType dtype = c.Has("dtype") ? c.TypeAttribute("dtype") : c.InType(0);
  Value* k = c.Integer(c.Int("k", 0));
  return {c.Cast(c.Emit(Op::kEqual, {DiagonalOffsets(c, shape[0], shape[1]), k}), dtype)};
}

Outputs Trilu(OpContext& c) {
  Value* x = c.In(0);
  const Shape shape = c.InShape(0);
  if (shape.size() < 2) Invalid("its input has rank ", shape.size(), ", needs 2");
  Value* offsets = DiagonalOffsets(c, shape[shape.size() - 2], shape.back());
  Value* k = c.HasInput(1) ? c.Reshape(c.In(1), {}) : c.Scalar(DType::kI64, 0);
  const Op keeps = c.Bool("upper", true) ? Op::kGreaterEqual : Op::kLessEqual;
  return {c.Where(c.Emit(keeps, {offsets, k}), x, c.ScalarLike(x, 0))};
}

Outputs OneHot(OpContext& c) {
  Value* indices = c.In(0);
  const Tensor depth_data = c.Known(c.In(1), "depth");
  if (depth_data.num_elements() != 1) Invalid("its depth must be a single number");
  const int64_t depth = depth_data.ToInt(0);
  if (depth < 0) Invalid("its depth is ", depth);
  const int64_t rank = indices->type().rank() + 1;
  const int64_t axis = Emitter::Axis(c.Int("axis", -1), rank);
  // Negative indices count from the end. Unsigned ones that are negative as i64 are beyond every depth.
  const bool are_signed = !IsUnsignedInt(indices->type().dtype);
  indices = c.Cast(indices, IsFloat(indices->type().dtype) ? DType::kF64 : DType::kI64);
  if (are_signed) {
    Value* wrapped = c.Add(indices, depth);
    indices = c.Where(c.Emit(Op::kLess, {indices, c.ScalarLike(indices, 0)}), wrapped, indices);
  }
  Shape classes(rank, 1);
  classes[axis] = depth;
  Value* ids = c.Reshape(c.Count(indices->type().dtype, depth), classes);
  Value* hit = c.Emit(Op::kEqual, {c.Unsqueeze(indices, {axis}), ids});
  Value* off_on = c.In(2);
  if (c.InShape(2) != Shape{2}) Invalid("its values are ", ToString(off_on->type()), ", not two numbers");
  return {
      c.Where(hit, c.Reshape(c.SliceAxis(off_on, 0, 1, 1), {}), c.Reshape(c.SliceAxis(off_on, 0, 0, 1), {}))};
}

Outputs NonZero(OpContext& c) {
  Value* x = c.In(0);
  if (x->type().rank() == 0) x = c.Reshape(x, {1});
  return {ConstantIfKnown(c, c.Emit(Op::kNonZero, {x}))};
}

Outputs Compress(OpContext& c) {
  Value* x = c.In(0);
  int64_t axis = 0;
  if (c.Has("axis")) {
    axis = Emitter::Axis(c.Int("axis"), c.InRank(0));
  } else {
    x = c.Reshape(x, {Product(c.InShape(0))});
  }
  Value* condition = c.In(1);
  const int64_t length = std::min(c.DimOf(x, axis), c.DimOf(condition, 0));
  condition = c.SliceAxis(condition, 0, 0, length);
  return {ConstantIfKnown(c, c.Emit(Op::kCompress, {x, condition}, {{"axis", axis}}))};
}

Outputs Unique(OpContext& c) {
  Value* x = c.In(0);
  const bool flat = !c.Has("axis") || c.InRank(0) == 1;
  if (!flat) Unsupported("unique slices along an axis");
  x = c.Reshape(x, {Product(c.InShape(0))});
  Node* node = c.EmitNode(Op::kUnique, {x}, {{"sorted", c.Int("sorted", 1)}});
  Outputs outputs;
  for (int i = 0; i < 4; ++i) outputs.emplace_back(ConstantIfKnown(c, node->output(i)));
  return outputs;
}

Outputs NonMaxSuppression(OpContext& c) {
  const auto optional = [&c](int input, const char* what) {
    return c.HasInput(input) ? c.KnownScalar(c.In(input), what).ToDouble() : 0.0;
  };
  const int64_t per_class = c.HasInput(2) ? c.KnownInt(c.In(2), "maximum of boxes per class") : 0;
  // Without a score threshold, every box is a candidate.
  const double score = c.HasInput(4) ? optional(4, "score threshold") : -HUGE_VALF;
  return {c.Emit(Op::kNonMaxSuppression, {c.In(0), c.In(1)},
                 {{"max_per_class", std::max<int64_t>(per_class, 0)},
                  {"iou_threshold", optional(3, "IoU threshold")},
                  {"score_threshold", score},
                  {"center_point_box", c.Int("center_point_box", 0)}})};
}

// Operators that need random numbers, which differ between runtimes.
Outputs RandomNumbers(OpContext&) { Unsupported(kMakesRandomNumbers); }

}  // namespace attune::onnx
