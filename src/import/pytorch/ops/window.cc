// Pooling.
#include <algorithm>

#include "base/checked.h"
#include "import/pytorch/ops/lowerings.h"

namespace attune::pytorch {
namespace {

// An input with `rank` spatial dimensions and a batch; adds a batch of 1 if there is none.
struct Batched {
  Value* x;
  bool added;
};

Batched WithBatch(OpContext& c, size_t rank) {
  Value* x = c.In("self");
  const bool added = static_cast<size_t>(x->type().rank()) == rank + 1;
  if (!added && static_cast<size_t>(x->type().rank()) != rank + 2) {
    Invalid("it pools ", rank, " dimensions of ", ToString(x->type()));
  }
  return {added ? c.Unsqueeze(x, {0}) : x, added};
}

Value* WithoutBatch(OpContext& c, const Batched& input, Value* y) {
  return input.added ? c.Squeeze(y, {0}) : y;
}

Attributes WindowAttributes(OpContext& c, size_t rank) {
  const Ints kernel = c.PerDimension("kernel_size", rank, {});
  Ints pads = c.PerDimension("padding", rank, {0});
  pads.insert(pads.end(), pads.begin(), pads.begin() + static_cast<std::ptrdiff_t>(rank));
  return {{"kernel", kernel},
          {"strides", c.PerDimension("stride", rank, kernel)},
          {"pads", pads},
          {"dilations", c.PerDimension("dilation", rank, {1})},
          {"ceil_mode", int64_t{c.Bool("ceil_mode", false)}}};
}

// The attributes of a pool whose windows divide the input into `out` tiles along each axis.
Attributes TileAttributes(const Shape& in, const Ints& out) {
  const size_t rank = out.size();
  Ints kernel(rank);
  for (size_t i = 0; i < rank; ++i) kernel[i] = in[i] / out[i];
  return {{"kernel", kernel}, {"strides", kernel}, {"pads", Ints(2 * rank, 0)}, {"dilations", Ints(rank, 1)}};
}

bool Tiles(const Shape& in, const Ints& out) {
  for (size_t i = 0; i < out.size(); ++i) {
    if (in[i] < 1 || in[i] % out[i] != 0) return false;
  }
  return true;
}

// One row per window, to compute its mean. Window i of `out` over `in` elements is [floor(i in / out),
// ceil((i + 1) in / out)).
Value* MeansMatrix(OpContext& c, DType dtype, int64_t in, int64_t out) {
  constexpr int64_t kMaxSide = 1 << 11;
  if (in > kMaxSide || out > kMaxSide) Unsupported("adaptive pooling of ", in, " elements to ", out);
  Tensor matrix = c.NewTable(dtype, {out, in});
  for (int64_t i = 0; i < out; ++i) {
    const int64_t begin = i * in / out;
    const int64_t end = CeilDiv((i + 1) * in, out);
    for (int64_t j = begin; j < end; ++j)
      matrix.SetDouble(i * in + j, 1.0 / static_cast<double>(end - begin));
  }
  return c.Constant(std::move(matrix));
}

// The means along one axis, as a product with the matrix of means.
Value* AdaptiveMeans(OpContext& c, Value* x, int64_t axis, int64_t out) {
  const int64_t rank = x->type().rank();
  const int64_t in = c.DimOf(x, axis);
  if (in == out) return x;
  Ints perm = Iota(rank);
  std::swap(perm[axis], perm[rank - 1]);
  Value* means = c.MatMul(c.Transpose(x, perm), MeansMatrix(c, x->type().dtype, in, out), false, true);
  return c.Transpose(means, perm);
}

// The requested output sizes; checks the input's spatial shape.
Ints AdaptiveSizes(OpContext& c, size_t rank, const Shape& spatial) {
  const Ints out = c.PerDimension("output_size", rank, {});
  for (size_t i = 0; i < rank; ++i) {
    CheckedSize(out[i], "output size", 1);
    if (spatial[i] < 1) Invalid("it pools an axis without elements");
  }
  return out;
}

Shape Spatial(OpContext& c, const Value* x) {
  const Shape shape = c.ShapeOf(x);
  return {shape.begin() + 2, shape.end()};
}

}  // namespace

Outputs MaxPool(OpContext& c, size_t rank, bool indices) {
  const Batched input = WithBatch(c, rank);
  const Shape shape = c.ShapeOf(input.x);
  Node* node = c.EmitNode(Op::kMaxPool, {input.x}, WindowAttributes(c, rank), indices ? 2 : 1);
  Value* maxima = WithoutBatch(c, input, node->output(0));
  if (!indices) return {maxima};
  // In PyTorch, positions are within each channel's image.
  const int64_t image = std::max<int64_t>(Product(shape, 2, static_cast<int64_t>(shape.size())), 1);
  Value* positions = c.Emit(Op::kMod, {node->output(1), c.Integer(image)});
  return {maxima, WithoutBatch(c, input, positions)};
}

Outputs AveragePool(OpContext& c, size_t rank) {
  const Batched input = WithBatch(c, rank);
  Attributes attrs = WindowAttributes(c, rank);
  const bool own_divisor = c.Has("divisor_override");
  const bool ceil_mode = attrs.Bool("ceil_mode");
  if (own_divisor && ceil_mode) Unsupported("divisor_override with ceil_mode");
  attrs.Set("count_include_pad", int64_t{own_divisor || c.Bool("count_include_pad", true)});
  const double window = static_cast<double>(Product(attrs.IntList("kernel")));
  Value* y = c.Emit(Op::kAvgPool, {input.x}, std::move(attrs));
  if (own_divisor) y = c.Mul(y, window / c.Float("divisor_override"));
  return {WithoutBatch(c, input, y)};
}

Outputs AdaptiveAveragePool(OpContext& c, size_t rank) {
  const Batched input = WithBatch(c, rank);
  const Shape spatial = Spatial(c, input.x);
  const Ints out = AdaptiveSizes(c, rank, spatial);
  Value* y = input.x;
  if (std::all_of(out.begin(), out.end(), [](int64_t size) { return size == 1; })) {
    y = c.Reduce(Op::kReduceMean, y, Iota(static_cast<int64_t>(rank), 2));
  } else if (out == spatial) {
    return {c.In("self")};
  } else if (Tiles(spatial, out)) {
    y = c.Emit(Op::kAvgPool, {y}, TileAttributes(spatial, out));
  } else {
    for (size_t i = 0; i < rank; ++i) y = AdaptiveMeans(c, y, static_cast<int64_t>(i) + 2, out[i]);
  }
  return {WithoutBatch(c, input, y)};
}

Outputs AdaptiveMaxPool(OpContext& c, size_t rank) {
  const Batched input = WithBatch(c, rank);
  const Shape spatial = Spatial(c, input.x);
  const Ints out = AdaptiveSizes(c, rank, spatial);
  if (!Tiles(spatial, out)) Unsupported("windows of several sizes");
  Node* node = c.EmitNode(Op::kMaxPool, {input.x}, TileAttributes(spatial, out), 1);
  return {WithoutBatch(c, input, node->output(0))};
}

}  // namespace attune::pytorch
