// Operators that join, split, repeat and pad tensors, and trade space for channels.
#include <algorithm>

#include "base/checked.h"
#include "import/pytorch/ops/lowerings.h"
#include "import/pytorch/ops/promotion.h"

namespace attune::pytorch {
namespace {

constexpr int64_t kMaxFactor = 1 << 15;  // for the sides of an image

std::vector<Value*> InOneType(OpContext& c) {
  std::vector<Value*> values = c.List("tensors");
  std::vector<Operand> operands;
  for (Value* value : values) {
    if (value == nullptr) Invalid("one of its tensors is None");
    operands.emplace_back(value);
  }
  const DType dtype = ResultType(operands);
  for (Value*& value : values) value = c.Cast(value, dtype);
  return values;
}

// Splits the argument self into parts of these sizes along an axis.
Outputs Parts(OpContext& c, int64_t axis, const Ints& sizes) {
  const std::vector<Value*> parts = c.Split(c.In("self"), axis, sizes);
  return {parts.begin(), parts.end()};
}

// Splits it into parts of `size` elements; the last part has the rest.
Outputs EqualParts(OpContext& c, int64_t axis, int64_t size) {
  const int64_t dim = c.DimOf(c.In("self"), axis);
  if (size < 1 && dim > 0) Invalid("its parts have ", size, " elements");
  size = std::min(size, dim);
  const int64_t count = dim == 0 ? 1 : CeilDiv(dim, size);
  Ints sizes(static_cast<size_t>(std::min<int64_t>(count, c.OutputCount())), size);
  if (static_cast<int64_t>(sizes.size()) != count)
    Invalid("it makes ", count, " parts, the program names fewer");
  sizes.back() = dim - (count - 1) * size;
  return Parts(c, axis, sizes);
}

// Adds leading axes of size 1 up to rank `rank`.
Value* WithRank(OpContext& c, Value* x, size_t rank) {
  Shape shape = c.ShapeOf(x);
  if (shape.size() < rank) shape.insert(shape.begin(), rank - shape.size(), 1);
  return c.Reshape(x, shape);
}

// Converts PyTorch's pads (a start and an end for each axis, from the last axis on) to all starts, then all
// ends.
Ints PadsOf(OpContext& c, const char* name, size_t rank) {
  const Ints given = c.IntList(name);
  if (given.size() % 2 != 0 || given.size() > 2 * rank)
    Invalid("it has ", given.size(), " pads for rank ", rank);
  Ints pads(2 * rank, 0);
  for (size_t i = 0; i < given.size() / 2; ++i) {
    const size_t axis = rank - 1 - i;
    for (size_t side = 0; side < 2; ++side) {
      const int64_t pad = given[2 * i + side];
      CheckedSize(std::max(pad, -(pad + 1)), "pad");
      pads[axis + side * rank] = pad;
    }
  }
  return pads;
}

// Negative pads crop.
Value* Padded(OpContext& c, Ints pads, const std::string& mode, const ExactNumber& value) {
  Value* x = c.In("self");
  Shape sizes = c.ShapeOf(x);
  const size_t rank = sizes.size();
  Ints starts(rank, 0);
  for (size_t i = 0; i < rank; ++i) {
    starts[i] = std::max<int64_t>(-pads[i], 0);
    sizes[i] -= starts[i] + std::max<int64_t>(-pads[i + rank], 0);
    if (sizes[i] < 0) Invalid("it cuts more than axis ", i, " of ", ToString(x->type()), " has");
    if (sizes[i] == 0) starts[i] = 0;
  }
  for (int64_t& pad : pads) pad = std::max<int64_t>(pad, 0);
  x = c.Slice(x, starts, sizes, Ints(rank, 1));
  if (mode == "constant") return c.Pad(x, pads, value);
  return c.Emit(Op::kPad, {x}, {{"pads", pads}, {"mode", mode}, {"value", ExactNumber(0)}});
}

// [..., C, H, W] as [N, C, H, W].
Value* AsImages(OpContext& c, const Shape& shape) {
  const int64_t rank = static_cast<int64_t>(shape.size());
  if (rank < 3) Invalid("it takes images, not ", ToString(c.In("self")->type()));
  return c.Reshape(c.In("self"),
                   {Product(shape, 0, rank - 3), shape[rank - 3], shape[rank - 2], shape[rank - 1]});
}

// Restores the leading axes of the original shape in the result for images.
Value* Restored(OpContext& c, Value* images, const Shape& original) {
  Shape shape(original.begin(), original.end() - 3);
  const Shape made = c.ShapeOf(images);
  shape.insert(shape.end(), made.begin() + 1, made.end());
  return c.Reshape(images, shape);
}

}  // namespace

// Empty vectors can be joined with tensors of any shape.
Outputs Concat(OpContext& c) {
  std::vector<Value*> values = InOneType(c);
  Value* first = values[0];
  std::erase_if(values, [&](Value* value) { return c.ShapeOf(value) == Shape{0}; });
  if (values.empty()) return {first};
  return {c.Concat(values, c.Int("dim", 0))};
}

Outputs Stack(OpContext& c) {
  std::vector<Value*> values = InOneType(c);
  const int64_t axis = c.AxisOf("dim", values[0]->type().rank() + 1, 0);
  for (Value*& value : values) value = c.Unsqueeze(value, {axis});
  return {c.Concat(values, axis)};
}

Outputs Split(OpContext& c) {
  const int64_t axis = c.AxisOf("dim", c.InRank("self"), 0);
  return EqualParts(c, axis, c.Int("split_size"));
}

Outputs SplitSizes(OpContext& c) {
  const int64_t axis = c.AxisOf("dim", c.InRank("self"), 0);
  return Parts(c, axis, c.IntList(c.Has("split_sizes") ? "split_sizes" : "split_size"));
}

// At most that many parts, of equal size except the last.
Outputs Chunk(OpContext& c) {
  const int64_t axis = c.AxisOf("dim", c.InRank("self"), 0);
  const int64_t chunks = CheckedSize(c.Int("chunks"), "number of chunks", 1);
  return EqualParts(c, axis, CeilDiv(c.DimOf(c.In("self"), axis), chunks));
}

Outputs Unbind(OpContext& c) {
  const int64_t axis = c.AxisOf("dim", c.InRank("self"), 0);
  Outputs parts = EqualParts(c, axis, 1);
  for (Binding& part : parts) {
    if (c.DimOf(part.value, axis) == 1) part = Binding(c.Squeeze(part.value, {axis}));
  }
  return parts;
}

Outputs Repeat(OpContext& c) {
  const Ints repeats = c.IntList("repeats");
  if (repeats.size() < static_cast<size_t>(c.InRank("self"))) Invalid("it repeats fewer axes than there are");
  return {c.Tile(WithRank(c, c.In("self"), repeats.size()), repeats)};
}

Outputs Tile(OpContext& c) {
  Ints repeats = c.IntList("dims");
  const size_t rank = static_cast<size_t>(c.InRank("self"));
  if (repeats.size() < rank) repeats.insert(repeats.begin(), rank - repeats.size(), 1);
  return {c.Tile(WithRank(c, c.In("self"), repeats.size()), repeats)};
}

// Repeats each element several times in a row; without an axis, for the flattened tensor.
Outputs RepeatInterleave(OpContext& c) {
  Value* x = c.In("self");
  if (!c.Has("dim") || x->type().rank() == 0) x = c.Reshape(x, {Product(c.ShapeOf(x))});
  Shape shape = c.ShapeOf(x);
  const int64_t axis = c.AxisOf("dim", x->type().rank(), 0);
  const int64_t repeats = CheckedSize(c.Int("repeats"), "number of repetitions");
  Shape apart = shape;
  apart.insert(apart.begin() + axis + 1, 1);
  Shape repeated = apart;
  repeated[axis + 1] = repeats;
  shape[axis] = Multiply(shape[axis], repeats);
  return {c.Reshape(c.Broadcast(c.Reshape(x, apart), repeated), shape)};
}

Outputs Pad(OpContext& c) {
  const std::string mode = c.String("mode", "constant");
  const std::string ours = mode == "replicate" ? "edge" : mode == "circular" ? "wrap" : mode;
  return {Padded(c, PadsOf(c, "pad", static_cast<size_t>(c.InRank("self"))), ours, c.Exact("value", 0))};
}

Outputs PadWith(OpContext& c, const char* mode) {
  return {Padded(c, PadsOf(c, "padding", static_cast<size_t>(c.InRank("self"))), mode, 0)};
}

Outputs PixelShuffle(OpContext& c) {
  const Shape shape = c.InShape("self");
  const int64_t factor = c.Int("upscale_factor");
  if (factor < 1 || factor > kMaxFactor) Invalid("its factor is ", factor);
  Value* y =
      c.Emit(Op::kDepthToSpace, {AsImages(c, shape)}, {{"block", factor}, {"mode", std::string("CRD")}});
  return {Restored(c, y, shape)};
}

Outputs PixelUnshuffle(OpContext& c) {
  const Shape shape = c.InShape("self");
  Value* x = AsImages(c, shape);
  const Shape s = c.ShapeOf(x);
  const int64_t r = CheckedSize(c.Int("downscale_factor"), "factor", 1);
  if (s[2] % r != 0 || s[3] % r != 0)
    Invalid(ToString(x->type()), " does not divide into squares of side ", r);
  Value* y = c.Transpose(c.Reshape(x, {s[0], s[1], s[2] / r, r, s[3] / r, r}), {0, 1, 3, 5, 2, 4});
  return {Restored(c, c.Reshape(y, {s[0], Multiply(s[1], Multiply(r, r)), s[2] / r, s[3] / r}), shape)};
}

Outputs ChannelShuffle(OpContext& c) {
  const Shape shape = c.InShape("self");
  const int64_t groups = CheckedSize(c.Int("groups"), "number of groups", 1);
  if (shape.size() < 2 || shape[1] % groups != 0) Invalid("its channels do not make ", groups, " groups");
  Shape apart = shape;
  apart[1] = shape[1] / groups;
  apart.insert(apart.begin() + 1, groups);
  Ints perm = Iota(static_cast<int64_t>(apart.size()));
  std::swap(perm[1], perm[2]);
  return {c.Reshape(c.Transpose(c.Reshape(c.In("self"), apart), perm), shape)};
}

}  // namespace attune::pytorch
