// Operators that rearrange elements.
#include <algorithm>
#include <utility>

#include "base/checked.h"
#include "import/common/asked_shapes.h"
#include "import/tensorflow/ops/images.h"
#include "import/tensorflow/ops/lowerings.h"

namespace attune::tensorflow {
namespace {

// The starts, then the ends, from [rank, 2] pads.
Ints PadsOf(OpContext& c, Value* pads, int64_t rank) {
  const Tensor data = c.Known(pads, "paddings");
  if (data.shape() != Shape{rank, 2}) Invalid("its paddings do not fit a tensor of rank ", rank);
  Ints result(2 * rank);
  for (int64_t i = 0; i < rank; ++i) {
    result[i] = CheckedSize(data.ToInt(2 * i), "padding");
    result[i + rank] = CheckedSize(data.ToInt(2 * i + 1), "padding");
  }
  return result;
}

// The parameters of SpaceToBatch and BatchToSpace: a block size and two borders for each of the axes after
// the batch.
struct Blocks {
  Ints sizes;
  Ints begins;
  Ints ends;
};

Blocks ReadBlocks(OpContext& c, bool same_for_two, int borders) {
  Blocks blocks;
  blocks.sizes = same_for_two ? Ints(2, c.Int("block_size")) : c.KnownInts(c.In(1), "block shape");
  for (int64_t size : blocks.sizes) CheckedSize(size, "block size", 1);
  const auto count = static_cast<int64_t>(blocks.sizes.size());
  if (count >= c.InRank(0)) Invalid("it has ", count, " block sizes for a tensor of rank ", c.InRank(0));
  const Ints both = PadsOf(c, c.In(borders), count);
  blocks.begins.assign(both.begin(), both.begin() + count);
  blocks.ends.assign(both.begin() + count, both.end());
  return blocks;
}

Value* SpaceToBatch(OpContext& c, const Blocks& blocks) {
  const auto count = static_cast<int64_t>(blocks.sizes.size());
  const int64_t rank = c.InRank(0);
  Ints pads(2 * rank, 0);
  for (int64_t i = 0; i < count; ++i) {
    pads[i + 1] = blocks.begins[i];
    pads[i + 1 + rank] = blocks.ends[i];
  }
  Value* x = c.Pad(c.In(0), pads);
  const Shape padded = c.ShapeOf(x);
  // [batch, h, bh, w, bw, …] → [bh, bw, batch, h, w, …]
  Shape apart = {padded[0]};
  Ints perm;
  Shape result = {padded[0]};
  for (int64_t i = 0; i < count; ++i) {
    if (padded[i + 1] % blocks.sizes[i] != 0)
      Invalid("its blocks do not divide ", padded[i + 1], " elements");
    apart.insert(apart.end(), {padded[i + 1] / blocks.sizes[i], blocks.sizes[i]});
    perm.push_back(2 * i + 2);
    result[0] = Multiply(result[0], blocks.sizes[i]);
    result.push_back(padded[i + 1] / blocks.sizes[i]);
  }
  perm.push_back(0);
  for (int64_t i = 0; i < count; ++i) perm.push_back(2 * i + 1);
  for (int64_t i = count + 1; i < rank; ++i) {
    apart.push_back(padded[i]);
    perm.push_back(i + count);
    result.push_back(padded[i]);
  }
  return c.Reshape(c.Transpose(c.Reshape(x, apart), perm), result);
}

Value* BatchToSpace(OpContext& c, const Blocks& blocks) {
  const auto count = static_cast<int64_t>(blocks.sizes.size());
  const Shape shape = c.InShape(0);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t area = Product(blocks.sizes);
  if (shape[0] % area != 0) Invalid("its blocks do not divide the batch of ", shape[0]);
  // [bh, bw, batch, h, w, …] → [batch, h, bh, w, bw, …]
  Shape apart = blocks.sizes;
  apart.push_back(shape[0] / area);
  apart.insert(apart.end(), shape.begin() + 1, shape.end());
  Ints perm = {count};
  Shape joined = {shape[0] / area};
  Ints starts = {0};
  Shape sizes = {shape[0] / area};
  for (int64_t i = 0; i < count; ++i) {
    perm.insert(perm.end(), {count + 1 + i, i});
    joined.push_back(Multiply(shape[i + 1], blocks.sizes[i]));
    starts.push_back(blocks.begins[i]);
    sizes.push_back(joined.back() - blocks.begins[i] - blocks.ends[i]);
    if (sizes.back() < 0) Invalid("its crops exceed ", joined.back(), " elements");
  }
  for (int64_t i = count + 1; i < rank; ++i) {
    perm.push_back(i + count);
    joined.push_back(shape[i]);
    starts.push_back(0);
    sizes.push_back(shape[i]);
  }
  Value* x = c.Reshape(c.Transpose(c.Reshape(c.In(0), apart), perm), joined);
  return c.Slice(x, starts, sizes, Ints(rank, 1));
}

}  // namespace

Outputs Reshape(OpContext& c) { return {ReshapeToAsked(c, c.In(0), c.KnownInts(c.In(1), "shape"))}; }

Outputs ExpandDims(OpContext& c) { return {c.Unsqueeze(c.In(0), {c.KnownInt(c.In(1), "axis")})}; }

Outputs Squeeze(OpContext& c) {
  const Ints axes = c.IntList("squeeze_dims", c.IntList("axis", {}));
  return {axes.empty() ? SqueezeOnes(c, c.In(0)) : c.Squeeze(c.In(0), axes)};
}

Outputs Transpose(OpContext& c) { return {c.Transpose(c.In(0), c.KnownInts(c.In(1), "permutation"))}; }

Outputs Concat(OpContext& c) {
  const bool axis_first = c.op() == "Concat";
  const int64_t axis = c.KnownInt(c.In(axis_first ? 0 : c.num_inputs() - 1), "axis");
  std::vector<Value*> values = c.AllIn();
  values.erase(axis_first ? values.begin() : values.end() - 1);
  return {c.Concat(values, axis)};
}

Outputs Pack(OpContext& c) {
  const int64_t axis = Emitter::Axis(c.Int("axis", 0), c.InRank(0) + 1);
  std::vector<Value*> parts;
  for (Value* value : c.AllIn()) parts.push_back(c.Unsqueeze(value, {axis}));
  return {c.Concat(parts, axis)};
}

Outputs Unpack(OpContext& c) {
  const int64_t axis = Emitter::Axis(c.Int("axis", 0), c.InRank(0));
  const int64_t count = c.DimOf(c.In(0), axis);
  if (c.Int("num", count) != count) Invalid("it has ", c.Int("num"), " results of ", count, " rows");
  Outputs outputs;
  for (int64_t i = 0; i < count; ++i) {
    outputs.emplace_back(c.Squeeze(c.SliceAxis(c.In(0), axis, i, 1), {axis}));
  }
  return outputs;
}

Outputs Split(OpContext& c) {
  Value* x = c.In(1);
  const int64_t axis = Emitter::Axis(c.KnownInt(c.In(0), "axis"), x->type().rank());
  const int64_t parts = CheckedSize(c.Int("num_split"), "number of parts", 1);
  const int64_t dim = c.DimOf(x, axis);
  constexpr int64_t kMaxEmptyParts = 4096;
  if (dim % parts != 0 || (dim == 0 && parts > kMaxEmptyParts))
    Invalid("it splits ", dim, " elements into ", parts, " parts");
  Outputs outputs;
  for (int64_t i = 0; i < parts; ++i) {
    outputs.emplace_back(c.SliceAxis(x, axis, i * (dim / parts), dim / parts));
  }
  return outputs;
}

Outputs SplitV(OpContext& c) {
  Value* x = c.In(0);
  Ints sizes = c.KnownInts(c.In(1), "sizes");
  const int64_t axis = Emitter::Axis(c.KnownInt(c.In(2), "axis"), x->type().rank());
  int64_t left = c.DimOf(x, axis);
  const int64_t dim = left;
  for (int64_t size : sizes)
    left = std::max<int64_t>(left - (size == -1 ? 0 : CheckedSize(size, "size")), -1);
  Outputs outputs;
  int64_t start = 0;
  for (int64_t size : sizes) {
    if (size == -1) size = std::exchange(left, 0);
    if (size < 0 || size > dim - start) Invalid("its parts exceed the ", dim, " elements along axis ", axis);
    outputs.emplace_back(c.SliceAxis(x, axis, start, size));
    start += size;
  }
  return outputs;
}

Outputs BroadcastTo(OpContext& c) { return {BroadcastToAsked(c, c.In(0), c.KnownInts(c.In(1), "shape"))}; }

Outputs Tile(OpContext& c) {
  const Shape shape = c.InShape(0);
  const Ints repeats = c.KnownInts(c.In(1), "multiples");
  if (repeats.size() != shape.size())
    Invalid("it has ", repeats.size(), " multiples for rank ", shape.size());
  return {c.Tile(c.In(0), repeats)};
}

Outputs Pad(OpContext& c) {
  Value* x = c.In(0);
  const Ints pads = PadsOf(c, c.In(1), c.InRank(0));
  if (c.num_inputs() < 3) return {c.Pad(x, pads)};
  return {c.Pad(x, pads, c.KnownScalar(c.In(2), "padding value"))};
}

Outputs MirrorPad(OpContext& c) {
  Value* x = c.In(0);
  const Ints pads = PadsOf(c, c.In(1), c.InRank(0));
  if (c.Choice("mode", {"REFLECT", "SYMMETRIC"}) == "SYMMETRIC") return {c.PadSymmetric(x, pads)};
  if (std::all_of(pads.begin(), pads.end(), [](int64_t pad) { return pad == 0; })) return {x};
  return {c.Emit(Op::kPad, {x}, {{"pads", pads}, {"mode", std::string("reflect")}})};
}

Outputs Reverse(OpContext& c) {
  Value* x = c.In(0);
  for (int64_t axis : Emitter::Axes(c.KnownInts(c.In(1), "axes"), c.InRank(0))) {
    const int64_t size = c.DimOf(x, axis);
    if (size > 1) x = c.SliceAxis(x, axis, size - 1, size, -1);
  }
  return {x};
}

Outputs ReverseSequence(OpContext& c) {
  return {c.Emit(Op::kReverseSequence, {c.In(0), c.In(1)},
                 {{"batch_axis", Emitter::Axis(c.Int("batch_dim", 0), c.InRank(0))},
                  {"time_axis", Emitter::Axis(c.Int("seq_dim"), c.InRank(0))}})};
}

// Shifts the elements along each axis by `shift`; those beyond the end continue at the beginning.
Outputs Roll(OpContext& c) {
  Value* x = c.In(0);
  const Ints shifts = c.KnownInts(c.In(1), "shift");
  const Ints axes = c.KnownInts(c.In(2), "axis");
  if (shifts.size() != axes.size()) Invalid("it has ", shifts.size(), " shifts for ", axes.size(), " axes");
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t size = c.DimOf(x, axes[i]);
    if (size == 0) continue;
    const int64_t shift = (shifts[i] % size + size) % size;
    if (shift == 0) continue;
    x = c.Concat({c.SliceAxis(x, axes[i], size - shift, shift), c.SliceAxis(x, axes[i], 0, size - shift)},
                 axes[i]);
  }
  return {x};
}

Outputs SpaceToBatchNd(OpContext& c) { return {SpaceToBatch(c, ReadBlocks(c, false, 2))}; }
Outputs BatchToSpaceNd(OpContext& c) { return {BatchToSpace(c, ReadBlocks(c, false, 2))}; }
Outputs SpaceToBatch(OpContext& c) { return {SpaceToBatch(c, ReadBlocks(c, true, 1))}; }
Outputs BatchToSpace(OpContext& c) { return {BatchToSpace(c, ReadBlocks(c, true, 1))}; }

// In both formats, blocks come before channels, as in the canonical operator.
Outputs DepthToSpace(OpContext& c) {
  const Images images(c, 2);
  Value* y = c.Emit(Op::kDepthToSpace, {images.ChannelsFirst(c.In(0))}, {{"block", c.Int("block_size")}});
  return {images.AsGiven(y)};
}

Outputs SpaceToDepth(OpContext& c) {
  const Images images(c, 2);
  Value* y = c.Emit(Op::kSpaceToDepth, {images.ChannelsFirst(c.In(0))}, {{"block", c.Int("block_size")}});
  return {images.AsGiven(y)};
}

}  // namespace attune::tensorflow
