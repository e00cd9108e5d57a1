// Operators that rearrange elements.
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/checked.h"
#include "import/common/asked_shapes.h"
#include "import/onnx/ops/lowerings.h"

namespace attune::onnx {
namespace {

// The axes of Squeeze and Unsqueeze: an attribute; an input since opset 13.
std::optional<Ints> ReadAxes(OpContext& c) {
  if (c.opset() < 13) return c.IntList("axes");
  if (!c.HasInput(1)) return std::nullopt;
  return c.KnownInts(c.In(1), "axes");
}

struct Window {
  int64_t start;
  int64_t size;
};

// ONNX's rules for one axis of Slice: negative positions count from the end, all are clamped.
Window ClampSlice(int64_t start, int64_t end, int64_t step, int64_t dim) {
  if (step == 0 || step == INT64_MIN) Invalid("its step is ", step);
  // Bounds beyond the tensor, INT64_MIN among them, mean its ends.
  start = std::clamp(start, -dim - 1, dim);
  end = std::clamp(end, -dim - 1, dim);
  if (start < 0) start += dim;
  if (end < 0) end += dim;
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, dim);
    end = std::clamp<int64_t>(end, 0, dim);
    return {start, end <= start ? 0 : (end - start - 1) / step + 1};
  }
  start = std::clamp<int64_t>(start, -1, dim - 1);
  end = std::clamp<int64_t>(end, -1, dim - 1);
  const int64_t span = start - end;
  return {start, span <= 0 ? 0 : (span - 1) / -step + 1};
}

struct SliceArguments {
  Ints starts;
  Ints ends;
  Ints axes;
  Ints steps;
};

SliceArguments ReadSlice(OpContext& c) {
  SliceArguments s;
  if (c.opset() < 10) {
    s.starts = c.IntList("starts", {});
    s.ends = c.IntList("ends", {});
    s.axes = c.IntList("axes", Iota(static_cast<int64_t>(s.starts.size())));
  } else {
    s.starts = c.KnownInts(c.In(1), "starts");
    s.ends = c.KnownInts(c.In(2), "ends");
    s.axes = c.HasInput(3) ? c.KnownInts(c.In(3), "axes") : Iota(static_cast<int64_t>(s.starts.size()));
    if (c.HasInput(4)) s.steps = c.KnownInts(c.In(4), "steps");
  }
  if (s.steps.empty()) s.steps.assign(s.starts.size(), 1);
  if (s.ends.size() != s.starts.size() || s.axes.size() != s.starts.size() ||
      s.steps.size() != s.starts.size()) {
    Invalid("its starts, ends, axes and steps differ in length");
  }
  s.axes = Emitter::DistinctAxes(s.axes, c.InRank(0));
  return s;
}

// The sizes of Split's parts.
Ints SplitSizes(OpContext& c, int64_t dim) {
  if (c.opset() >= 13 && c.HasInput(1)) return c.KnownInts(c.In(1), "split");
  if (c.opset() < 13 && c.Has("split")) return *c.IntList("split");
  const int64_t parts = c.Int("num_outputs", c.num_outputs());
  if (parts < 1 || parts != c.num_outputs())
    Invalid("it splits into ", parts, " parts, but has ", c.num_outputs(), " outputs");
  const int64_t size = CeilDiv(dim, parts);
  Ints sizes(parts, size);
  sizes.back() = std::max<int64_t>(0, dim - size * (parts - 1));
  return sizes;
}

// Pads of all axes: all begins, then all ends.
Ints ReadPads(OpContext& c) {
  const int64_t rank = c.InRank(0);
  Ints given = c.opset() >= 11 ? c.KnownInts(c.In(1), "pads") : c.IntList("pads", c.IntList("paddings", {}));
  for (int64_t pad : given) CheckedSize(pad, "pad", -(int64_t{1} << 40));
  if (!c.HasInput(3)) {
    if (static_cast<int64_t>(given.size()) != 2 * rank)
      Invalid("it has ", given.size(), " pads for rank ", rank);
    return given;
  }
  const Ints axes = Emitter::DistinctAxes(c.KnownInts(c.In(3), "axes"), rank);
  if (given.size() != 2 * axes.size()) Invalid("it has ", given.size(), " pads for ", axes.size(), " axes");
  Ints pads(2 * rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    pads[axes[i]] = given[i];
    pads[axes[i] + rank] = given[i + axes.size()];
  }
  return pads;
}

// Crops the axes with negative pads, and leaves the other pads in `pads`.
Value* Crop(OpContext& c, Value* x, Ints& pads) {
  const int64_t rank = x->type().rank();
  if (std::all_of(pads.begin(), pads.end(), [](int64_t pad) { return pad >= 0; })) return x;
  Shape sizes = c.ShapeOf(x);
  Ints starts(rank, 0);
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t begin = std::max<int64_t>(-pads[i], 0);
    const int64_t end = std::max<int64_t>(-pads[i + rank], 0);
    if (begin + end > sizes[i])
      Invalid("its pads cut ", begin + end, " of ", sizes[i], " elements along axis ", i);
    sizes[i] -= begin + end;
    starts[i] = sizes[i] == 0 ? 0 : begin;
    pads[i] = std::max<int64_t>(pads[i], 0);
    pads[i + rank] = std::max<int64_t>(pads[i + rank], 0);
  }
  return c.Slice(x, starts, sizes, Ints(rank, 1));
}

}  // namespace

// Only -1 and 0 in its shape can stand for a size that depends on data.
Outputs Reshape(OpContext& c) {
  Value* x = c.In(0);
  Ints shape = c.opset() >= 5 ? c.KnownInts(c.In(1), "shape") : c.IntList("shape", {});
  const Shape from = x->type().shape();
  std::vector<bool> copied(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    copied[i] = shape[i] == 0 && !c.Bool("allowzero");
    if (!copied[i]) continue;
    if (i >= from.size()) Invalid("its shape copies dimension ", i, " of ", ToString(x->type()));
    shape[i] = from[i];
  }
  return {ReshapeToAsked(c, x, std::move(shape), copied)};
}

Outputs Flatten(OpContext& c) {
  const Shape shape = c.In(0)->type().shape();
  const int64_t rank = static_cast<int64_t>(shape.size());
  const int64_t axis = c.Int("axis", 1);
  const int64_t split = axis == rank ? rank : Emitter::Axis(axis, std::max<int64_t>(rank, 1));
  return {c.Reshape(c.In(0), {Product(shape, 0, split), Product(shape, split, rank)})};
}

Outputs Squeeze(OpContext& c) {
  const std::optional<Ints> axes = ReadAxes(c);
  return {axes ? c.Squeeze(c.In(0), *axes) : SqueezeOnes(c, c.In(0))};
}

Outputs Unsqueeze(OpContext& c) {
  const std::optional<Ints> axes = ReadAxes(c);
  if (!axes) Invalid("its axes are missing");
  return {c.Unsqueeze(c.In(0), *axes)};
}

Outputs Transpose(OpContext& c) {
  Ints reversed = Iota(c.InRank(0));
  std::reverse(reversed.begin(), reversed.end());
  return {c.Transpose(c.In(0), c.IntList("perm", reversed))};
}

Outputs Concat(OpContext& c) {
  return {c.Concat(c.AllIn(), c.opset() < 4 ? c.Int("axis", 1) : c.Int("axis"))};
}

Outputs Split(OpContext& c) {
  Value* x = c.In(0);
  const int64_t axis = Emitter::Axis(c.Int("axis", 0), c.InRank(0));
  const std::vector<Value*> parts = c.Split(x, axis, SplitSizes(c, c.DimOf(x, axis)));
  return {parts.begin(), parts.end()};
}

Outputs Slice(OpContext& c) {
  Value* x = c.In(0);
  const SliceArguments s = ReadSlice(c);
  Shape sizes = x->type().shape();
  Ints starts(sizes.size(), 0);
  Ints steps(sizes.size(), 1);
  for (size_t i = 0; i < s.axes.size(); ++i) {
    const int64_t axis = s.axes[i];
    const Window window = ClampSlice(s.starts[i], s.ends[i], s.steps[i], x->type().dims[axis].size);
    starts[axis] = window.size == 0 ? 0 : window.start;
    sizes[axis] = window.size;
    steps[axis] = s.steps[i];
  }
  return {c.Slice(x, starts, sizes, steps)};
}

Outputs Expand(OpContext& c) {
  const TensorType& type = c.In(0)->type();
  const Shape from = type.shape();
  Shape to = c.KnownInts(c.In(1), "shape");
  if (to.size() < from.size()) to.insert(to.begin(), from.size() - to.size(), 1);
  for (size_t i = 0; i < from.size(); ++i) {
    int64_t& dim = to[to.size() - from.size() + i];
    if (dim == 1) {
      dim = from[i];
    } else if (!type.dims[i].is_constant()) {
      Unsupported("whether ", ToString(type), " fits the shape that it asks for depends on data");
    }
  }
  return {c.Broadcast(c.In(0), to)};
}

Outputs Tile(OpContext& c) {
  const int64_t rank = c.InRank(0);
  Ints repeats(rank, 1);
  if (c.opset() < 6) {
    // These have the input's type, which may be float.
    const auto whole = [&c](int input, const char* what) {
      const double number = c.KnownScalar(c.In(input), what).ToDouble();
      if (!(std::abs(number) < 0x1p40) || number != std::floor(number)) Invalid("its ", what, " is ", number);
      return static_cast<int64_t>(number);
    };
    repeats[Emitter::Axis(whole(2, "axis"), rank)] = whole(1, "tiles");
  } else {
    repeats = c.KnownInts(c.In(1), "repeats");
  }
  if (static_cast<int64_t>(repeats.size()) != rank)
    Invalid("it has ", repeats.size(), " repeats for rank ", rank);
  return {c.Tile(c.In(0), repeats)};
}

// If the padding value is data, it replaces the elements outside a mask that is padded in the same way.
Outputs Pad(OpContext& c) {
  Ints pads = ReadPads(c);
  Value* x = Crop(c, c.In(0), pads);
  if (std::all_of(pads.begin(), pads.end(), [](int64_t pad) { return pad == 0; })) return {x};
  const std::string mode = c.String("mode", "constant");
  Value* value = c.opset() >= 11 ? c.OptionalIn(2) : nullptr;
  if (mode != "constant" || value == nullptr) {
    const ExactNumber number = c.opset() < 11 ? c.Float("value", 0) : 0;
    return {c.Emit(Op::kPad, {x}, {{"pads", pads}, {"mode", mode}, {"value", number}})};
  }
  if (c.KnownConstant(value)) return {c.Pad(x, pads, c.KnownScalar(value, "padding value"))};
  Value* inside = c.Pad(c.Filled(DType::kBool, 1, c.ShapeOf(x)), pads);
  return {c.Where(inside, c.Pad(x, pads), c.Reshape(value, {}))};
}

Outputs Gather(OpContext& c) { return {c.Gather(c.In(0), c.In(1), c.Int("axis", 0))}; }

Outputs GatherElements(OpContext& c) {
  return {c.Emit(Op::kGatherElements, {c.In(0), c.In(1)},
                 {{"axis", Emitter::Axis(c.Int("axis", 0), c.InRank(0))}})};
}

Outputs GatherNd(OpContext& c) {
  return {c.Emit(Op::kGatherNd, {c.In(0), c.In(1)}, {{"batch_dims", c.Int("batch_dims", 0)}})};
}

Outputs ScatterElements(OpContext& c) {
  return {c.Emit(Op::kScatterElements, {c.In(0), c.In(1), c.In(2)},
                 {{"axis", Emitter::Axis(c.Int("axis", 0), c.InRank(0))},
                  {"reduction", c.String("reduction", "none")}})};
}

Outputs ScatterNd(OpContext& c) {
  return {
      c.Emit(Op::kScatterNd, {c.In(0), c.In(1), c.In(2)}, {{"reduction", c.String("reduction", "none")}})};
}

Outputs DepthToSpace(OpContext& c) {
  return {c.Emit(Op::kDepthToSpace, {c.In(0)},
                 {{"block", c.Int("blocksize")}, {"mode", c.String("mode", "DCR")}})};
}

Outputs SpaceToDepth(OpContext& c) {
  return {c.Emit(Op::kSpaceToDepth, {c.In(0)}, {{"block", c.Int("blocksize")}})};
}

Outputs ReverseSequence(OpContext& c) {
  return {c.Emit(Op::kReverseSequence, {c.In(0), c.In(1)},
                 {{"batch_axis", Emitter::Axis(c.Int("batch_axis", 1), c.InRank(0))},
                  {"time_axis", Emitter::Axis(c.Int("time_axis", 0), c.InRank(0))}})};
}

// Crops or pads each axis around its middle.
Outputs CenterCropPad(OpContext& c) {
  Value* x = c.In(0);
  const int64_t rank = c.InRank(0);
  const Ints target = c.KnownInts(c.In(1), "shape");
  const Ints axes = Emitter::DistinctAxes(c.IntList("axes", Iota(rank)), rank);
  if (target.size() != axes.size()) Invalid("it has ", target.size(), " sizes for ", axes.size(), " axes");
  Ints starts(rank, 0);
  Shape sizes = c.InShape(0);
  Ints pads(2 * rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = axes[i];
    const int64_t extra = CheckedSize(target[i], "size") - sizes[axis];
    if (extra < 0) {
      starts[axis] = -extra / 2;
      sizes[axis] = target[i];
    } else {
      pads[axis] = extra / 2;
      pads[axis + rank] = extra - extra / 2;
    }
  }
  return {c.Pad(c.Slice(x, starts, sizes, Ints(rank, 1)), pads)};
}

// Opset 1: `border` is left, top, right, bottom; `scale` is the remaining height and width.
Outputs CropImage(OpContext& c) {
  const Shape shape = c.InShape(0);
  const Ints border = c.IntList("border", {0, 0, 0, 0});
  if (shape.size() != 4 || border.size() != 4) Invalid("it takes a tensor of rank 4 and four borders");
  for (int64_t side : border) CheckedSize(side, "border");
  const Ints scale = c.IntList("scale", {shape[2] - border[1] - border[3], shape[3] - border[0] - border[2]});
  if (scale.size() != 2) Invalid("its scale has ", scale.size(), " values, not 2");
  return {
      c.Slice(c.In(0), {0, 0, border[1], border[0]}, {shape[0], shape[1], scale[0], scale[1]}, {1, 1, 1, 1})};
}

// Writes `update` along `axis` of a cache, starting at write_indices (one per batch); in circular mode,
// indices wrap around.
Outputs TensorScatter(OpContext& c) {
  Value* cache = c.In(0);
  const Shape shape = c.InShape(0);
  const Shape update = c.InShape(1);
  const int64_t rank = static_cast<int64_t>(shape.size());
  const int64_t axis = Emitter::Axis(c.Int("axis", -2), rank);
  if (axis == 0 || update.size() != shape.size()) Invalid("its update and axis do not fit the cache");
  Shape count(rank, 1);
  count[axis] = update[axis];
  Value* positions = c.Reshape(c.Count(DType::kI64, update[axis]), count);
  if (c.HasInput(2)) {
    Shape per_batch(rank, 1);
    per_batch[0] = shape[0];
    positions = c.Add(positions, c.Reshape(c.In(2), per_batch));
  }
  if (c.Choice("mode", {"linear", "circular"}) == "circular") {
    positions = c.Emit(Op::kMod, {positions, c.Integer(shape[axis])});
  }
  return {c.Emit(Op::kScatterElements, {cache, c.Broadcast(positions, update), c.In(1)},
                 {{"axis", axis}, {"reduction", std::string("none")}})};
}

}  // namespace attune::onnx
