#include "import/onnx/ops/window.h"

#include <algorithm>

#include "base/checked.h"
#include "graph/ops/spatial.h"
#include "import/onnx/ops/lowerings.h"

namespace attune::onnx {
namespace {

Ints PerDimension(OpContext& c, const char* name, size_t dimensions) {
  const Ints values = c.IntList(name, Ints(dimensions, 1));
  if (values.size() != dimensions)
    Invalid("its ", name, " have ", values.size(), " values, not ", dimensions);
  for (int64_t value : values) {
    if (value < 1 || value > INT32_MAX) Invalid("its ", name, " have the value ", value);
  }
  return values;
}

// SAME_UPPER and SAME_LOWER: ceil(input / stride) outputs; an odd pad is at the end or the start.
Ints SamePads(const WindowAttributes& w, const Shape& input, bool upper) {
  const size_t rank = w.kernel.size();
  Ints pads(2 * rank);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t size = input[i + 2];
    const int64_t outputs = CeilDiv(size, w.strides[i]);
    const int64_t extent = (w.kernel[i] - 1) * w.dilations[i] + 1;
    const int64_t total = std::max<int64_t>(0, (outputs - 1) * w.strides[i] + extent - size);
    pads[i] = upper ? total / 2 : total - total / 2;
    pads[i + rank] = total - pads[i];
  }
  return pads;
}

Attributes PoolAttributes(OpContext& c, const WindowAttributes& w) {
  return {{"kernel", w.kernel},
          {"strides", w.strides},
          {"pads", w.pads},
          {"dilations", w.dilations},
          {"ceil_mode", int64_t{c.Bool("ceil_mode")}}};
}

// Pads the ends until the windows that ceil_mode adds lie within the padding.
void PadOverhang(WindowAttributes& w, const Shape& input) {
  const infer::Window window{w.kernel, w.strides, w.pads, w.dilations};
  for (size_t i = 0; i < window.rank(); ++i) {
    const auto count = infer::NumWindows(window, i, input[i + 2], /*ceil_mode=*/true);
    if (!count.ok()) continue;  // the pool's own inference says so
    const int64_t end = (*count - 1) * w.strides[i] + window.extent(i) - window.begin(i);
    w.pads[i + window.rank()] = std::max(window.end(i), end - input[i + 2]);
  }
}

// All spatial axes.
Ints SpatialAxes(OpContext& c) {
  if (c.InRank(0) < 3) Invalid("its input ", ToString(c.In(0)->type()), " has no spatial dimension");
  return Iota(c.InRank(0) - 2, 2);
}

// Converts flat row-major positions in a tensor of shape `from` to positions by `strides` (one per axis).
Value* Reindex(OpContext& c, Value* positions, const Shape& from, const Ints& strides) {
  int64_t inner = Product(from);
  Value* result = c.Integer(0);
  for (size_t i = 0; i < from.size(); ++i) {
    inner /= std::max<int64_t>(from[i], 1);
    Value* index = c.Div(positions, c.Integer(inner));
    positions = c.Sub(positions, c.Mul(index, c.Integer(inner)));
    result = c.Add(result, c.Mul(index, c.Integer(strides[i])));
  }
  return result;
}

Ints RowMajorStrides(const Shape& shape) {
  Ints strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = Product({strides[i], shape[i]});
  return strides;
}

// Row-major over batch and channels, column-major within each image.
Ints ColumnMajorStrides(const Shape& shape) {
  Ints strides = RowMajorStrides(shape);
  int64_t stride = 1;
  for (size_t i = 2; i < shape.size(); ++i) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

// (Σ |x|^p)^(1/p)
Value* PowerRoot(OpContext& c, Value* sum, double p) {
  if (p == 1) return sum;
  if (p == 2) return c.Emit(Op::kSqrt, {sum});
  return c.Emit(Op::kPow, {sum, c.ScalarLike(sum, 1 / p)});
}

Value* AbsolutePower(OpContext& c, Value* x, double p) {
  if (p == 2) return c.Mul(x, x);
  Value* magnitude = c.Emit(Op::kAbs, {x});
  return p == 1 ? magnitude : c.Emit(Op::kPow, {magnitude, c.ScalarLike(x, p)});
}

// In opset 1, p is a float.
double ReadP(OpContext& c) { return c.opset() < 2 ? c.Float("p", 2) : static_cast<double>(c.Int("p", 2)); }

}  // namespace

Ints KernelOf(OpContext& c, int weight) {
  const Shape shape = c.InShape(weight);
  if (shape.size() < 3) Invalid("its weight ", ToString(c.In(weight)->type()), " has no spatial dimension");
  Ints kernel(shape.begin() + 2, shape.end());
  if (c.IntList("kernel_shape", kernel) != kernel) Invalid("its kernel_shape differs from the weight's");
  return kernel;
}

WindowAttributes ReadWindow(OpContext& c, const Shape& input, const Ints& kernel) {
  const size_t rank = kernel.size();
  if (input.size() != rank + 2)
    Invalid("its input has rank ", input.size(), ", its window ", rank, " dimensions");
  for (int64_t size : kernel) {
    if (size < 1 || size > INT32_MAX) Invalid("its kernel has the size ", size);
  }
  WindowAttributes w{kernel, PerDimension(c, "strides", rank), {}, PerDimension(c, "dilations", rank)};
  const std::string auto_pad = c.Choice("auto_pad", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"});
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    w.pads = SamePads(w, input, auto_pad == "SAME_UPPER");
  } else if (auto_pad == "VALID") {
    w.pads.assign(2 * rank, 0);
  } else {
    w.pads = c.IntList("pads", Ints(2 * rank, 0));
  }
  if (w.pads.size() != 2 * rank) Invalid("it has ", w.pads.size(), " pads for ", rank, " spatial dimensions");
  for (int64_t pad : w.pads) {
    if (pad < 0) Unsupported("negative pads");
    CheckedSize(pad, "pad");
  }
  return w;
}

WindowAttributes ReadPoolWindow(OpContext& c, const Shape& input) {
  const std::optional<Ints> kernel = c.IntList("kernel_shape");
  if (!kernel) Invalid("its kernel_shape is missing");
  return ReadWindow(c, input, *kernel);
}

Outputs MaxPool(OpContext& c) {
  const Shape shape = c.InShape(0);
  const WindowAttributes w = ReadPoolWindow(c, shape);
  const int outputs = c.HasOutput(1) ? 2 : 1;
  Node* node = c.EmitNode(Op::kMaxPool, {c.In(0)}, PoolAttributes(c, w), outputs);
  if (outputs == 1) return {node->output()};
  const bool column_major = c.Bool("storage_order");
  return {node->output(0),
          column_major ? Reindex(c, node->output(1), shape, ColumnMajorStrides(shape)) : node->output(1)};
}

Outputs AveragePool(OpContext& c) {
  Attributes attrs = PoolAttributes(c, ReadPoolWindow(c, c.InShape(0)));
  attrs.Set("count_include_pad", int64_t{c.Bool("count_include_pad")});
  return {c.Emit(Op::kAvgPool, {c.In(0)}, std::move(attrs))};
}

// The mean of |x|^p over the window, where padding counts as zeros, times the size of the window. Means leave
// out what is beyond the padding, so there must be padding for all windows.
Outputs LpPool(OpContext& c) {
  WindowAttributes w = ReadPoolWindow(c, c.InShape(0));
  if (c.Bool("ceil_mode")) PadOverhang(w, c.InShape(0));
  const double p = ReadP(c);
  Attributes attrs = PoolAttributes(c, w);
  attrs.Set("count_include_pad", int64_t{1});
  Value* mean = c.Emit(Op::kAvgPool, {AbsolutePower(c, c.In(0), p)}, std::move(attrs));
  return {PowerRoot(c, c.Mul(mean, static_cast<double>(Product(w.kernel))), p)};
}

Outputs GlobalAveragePool(OpContext& c) { return {c.Reduce(Op::kReduceMean, c.In(0), SpatialAxes(c))}; }
Outputs GlobalMaxPool(OpContext& c) { return {c.Reduce(Op::kReduceMax, c.In(0), SpatialAxes(c))}; }

Outputs GlobalLpPool(OpContext& c) {
  const double p = ReadP(c);
  return {PowerRoot(c, c.Reduce(Op::kReduceSum, AbsolutePower(c, c.In(0), p), SpatialAxes(c)), p)};
}

// Scatters the values to the flat positions from MaxPool.
Outputs MaxUnpool(OpContext& c) {
  const Shape input = c.InShape(0);
  const WindowAttributes w = ReadPoolWindow(c, input);
  Shape inferred = input;
  for (size_t i = 0; i < w.kernel.size(); ++i) {
    inferred[i + 2] =
        LastStep(input[i + 2], w.strides[i]) + w.kernel[i] - w.pads[i] - w.pads[i + w.kernel.size()];
  }
  const Shape shape = c.HasInput(2) ? c.KnownInts(c.In(2), "output shape") : inferred;
  if (shape.size() != input.size())
    Invalid("its output shape has rank ", shape.size(), ", not ", input.size());
  Value* indices = c.In(1);
  // Positions refer to the image that the pool read.
  if (shape != inferred) indices = Reindex(c, indices, inferred, RowMajorStrides(shape));
  const int64_t count = Product(input);
  Value* zeros = c.Filled(c.InType(0), 0, {Product(shape)});
  indices = c.NonNegative(c.Reshape(indices, {count, 1}), zeros, 0, 1, "scatter_nd");
  Value* flat = c.Emit(Op::kScatterNd, {zeros, indices, c.Reshape(c.In(0), {count})},
                       {{"reduction", std::string("none")}});
  return {c.Reshape(flat, shape)};
}

Outputs Lrn(OpContext& c) {
  return {c.Emit(Op::kLrn, {c.In(0)},
                 {{"size", c.Int("size")},
                  {"alpha", c.Float("alpha", 1e-4)},
                  {"beta", c.Float("beta", 0.75)},
                  {"bias", c.Float("bias", 1)}})};
}

Outputs Col2Im(OpContext& c) {
  const Ints image = c.KnownInts(c.In(1), "image shape");
  const Ints block = c.KnownInts(c.In(2), "block shape");
  const size_t rank = image.size();
  return {c.Emit(Op::kCol2Im, {c.In(0)},
                 {{"image", image},
                  {"block", block},
                  {"strides", c.IntList("strides", Ints(rank, 1))},
                  {"pads", c.IntList("pads", Ints(2 * rank, 0))},
                  {"dilations", c.IntList("dilations", Ints(rank, 1))}})};
}

}  // namespace attune::onnx
