// Operators that change the shape or order of elements, and compute nothing.
#include <algorithm>

#include "import/pytorch/ops/lowerings.h"

namespace attune::pytorch {
namespace {

// Completes a shape with at most one size of -1, which the `count` elements and the other sizes determine.
Shape Completed(Shape shape, int64_t count) {
  const auto open = std::find(shape.begin(), shape.end(), -1);
  if (open == shape.end()) return shape;
  *open = 1;
  const int64_t others = Product(shape);
  if (others == 0 || count % others != 0)
    Invalid("it cannot make one of its sizes from ", count, " elements");
  *open = count / others;
  return shape;
}

Value* ReshapeTo(OpContext& c, Value* x, const Shape& shape) {
  return c.Reshape(x, Completed(shape, Product(c.ShapeOf(x))));
}

// A position in an axis with `size` elements, clamped like in slices of Python.
int64_t Clamped(int64_t position, int64_t size) {
  return std::clamp<int64_t>(position < 0 ? position + size : position, 0, size);
}

// The argument index, as 0 … size - 1.
int64_t IndexInto(OpContext& c, int64_t size) {
  const int64_t index = c.Int("index");
  if (index < -size || index >= size) Invalid("it selects element ", index, " of ", size);
  return index < 0 ? index + size : index;
}

// The argument self with the argument src in place of `size` elements along an axis.
Value* WithSource(OpContext& c, int64_t axis, int64_t start, int64_t size, bool adds_axis) {
  Value* x = c.In("self");
  Shape shape = c.ShapeOf(x);
  const int64_t after = shape[axis] - start - size;
  shape[axis] = size;
  Value* source = adds_axis ? c.Unsqueeze(c.In("src"), {axis}) : c.In("src");
  std::vector<Value*> parts;
  if (start > 0) parts.push_back(c.SliceAxis(x, axis, 0, start));
  if (size > 0) parts.push_back(c.Cast(c.Broadcast(source, shape), x->type().dtype));
  if (after > 0) parts.push_back(c.SliceAxis(x, axis, start + size, after));
  return parts.empty() ? x : c.Concat(parts, axis);
}

}  // namespace

Outputs Identity(OpContext& c) { return {c.In("self")}; }

Outputs Reshape(OpContext& c) {
  return {ReshapeTo(c, c.In("self"), c.IntList(c.Has("shape") ? "shape" : "size"))};
}

Outputs ReshapeLike(OpContext& c) { return {ReshapeTo(c, c.In("self"), c.InShape("other"))}; }

Outputs Flatten(OpContext& c) {
  const Shape shape = c.InShape("self");
  const int64_t rank = static_cast<int64_t>(shape.size());
  if (rank == 0) return {c.Reshape(c.In("self"), {1})};
  const int64_t start = c.AxisOf("start_dim", rank, 0);
  const int64_t end = c.AxisOf("end_dim", rank, -1);
  if (start > end) Invalid("it flattens from axis ", start, " to ", end);
  Shape flat(shape.begin(), shape.begin() + start);
  flat.push_back(Product(shape, start, end + 1));
  flat.insert(flat.end(), shape.begin() + end + 1, shape.end());
  return {c.Reshape(c.In("self"), flat)};
}

Outputs Unflatten(OpContext& c) {
  Shape shape = c.InShape("self");
  const int64_t axis = c.AxisOf("dim", static_cast<int64_t>(shape.size()));
  if (shape.empty()) Invalid("it divides the axis of a scalar");
  const Shape parts = Completed(c.IntList("sizes"), shape[axis]);
  shape.erase(shape.begin() + axis);
  shape.insert(shape.begin() + axis, parts.begin(), parts.end());
  return {c.Reshape(c.In("self"), shape)};
}

Outputs Permute(OpContext& c) {
  Ints perm = c.IntList("dims");
  for (int64_t& axis : perm) axis = Emitter::Axis(axis, c.InRank("self"));
  return {c.Transpose(c.In("self"), perm)};
}

Outputs TransposeAxes(OpContext& c) {
  const int64_t rank = c.InRank("self");
  const bool swaps = c.Has("axis0");
  const int64_t a = c.AxisOf(swaps ? "axis0" : "dim0", rank);
  const int64_t b = c.AxisOf(swaps ? "axis1" : "dim1", rank);
  if (rank == 0) return {c.In("self")};
  Ints perm = Iota(rank);
  std::swap(perm[a], perm[b]);
  return {c.Transpose(c.In("self"), perm)};
}

// Exchanges the last two axes; a vector stays the same.
Outputs TransposeMatrix(OpContext& c) {
  const int64_t rank = c.InRank("self");
  if (rank < 2) return {c.In("self")};
  Ints perm = Iota(rank);
  std::swap(perm[rank - 1], perm[rank - 2]);
  return {c.Transpose(c.In("self"), perm)};
}

Outputs ReverseAxes(OpContext& c) {
  Ints perm = Iota(c.InRank("self"));
  std::reverse(perm.begin(), perm.end());
  return {c.Transpose(c.In("self"), perm)};
}

// Moves the axes `source` to `destination`; the others keep their order.
Outputs MoveAxes(OpContext& c) {
  const int64_t rank = c.InRank("self");
  const Ints source = c.IntList("source");
  const Ints destination = c.IntList("destination");
  if (source.size() != destination.size())
    Invalid("it moves ", source.size(), " axes to ", destination.size());
  Ints perm(rank, -1);
  std::vector<bool> moved(rank, false);
  for (size_t i = 0; i < source.size(); ++i) {
    const int64_t from = Emitter::Axis(source[i], rank);
    const int64_t to = Emitter::Axis(destination[i], rank);
    if (moved[from] || perm[to] != -1) Invalid("it moves an axis twice");
    moved[from] = true;
    perm[to] = from;
  }
  int64_t next = 0;
  for (int64_t& axis : perm) {
    if (axis != -1) continue;
    while (moved[next]) ++next;
    axis = next++;
  }
  return {c.Transpose(c.In("self"), perm)};
}

// A size of -1 keeps the dimension.
Outputs Expand(OpContext& c) {
  const Shape from = c.InShape("self");
  Shape to = c.IntList("size");
  if (to.size() < from.size()) Invalid("it expands ", ToString(c.In("self")->type()), " to a lower rank");
  for (size_t i = 0; i < from.size(); ++i) {
    int64_t& size = to[to.size() - from.size() + i];
    if (size == -1) size = from[i];
  }
  return {c.Broadcast(c.In("self"), to)};
}

Outputs ExpandLike(OpContext& c) { return {c.Broadcast(c.In("self"), c.InShape("other"))}; }

// In place: the source with the shape and type of the overwritten tensor.
Outputs CopyInto(OpContext& c) {
  return {c.Cast(c.Broadcast(c.In("src"), c.InShape("self")), c.InType("self"))};
}

Outputs Unsqueeze(OpContext& c) {
  return {c.Unsqueeze(c.In("self"), {c.AxisOf("dim", c.InRank("self") + 1)})};
}

// The axes, among those named or all, that have one element.
Outputs Squeeze(OpContext& c) {
  const Shape shape = c.InShape("self");
  const int64_t rank = static_cast<int64_t>(shape.size());
  const Ints candidates = c.Has("dim") ? c.IntList("dim") : Iota(rank);
  Ints axes;
  for (int64_t candidate : candidates) {
    const int64_t axis = Emitter::Axis(candidate, std::max<int64_t>(rank, 1));
    if (rank > 0 && shape[axis] == 1) axes.push_back(axis);
  }
  return {c.Squeeze(c.In("self"), axes)};
}

Outputs Slice(OpContext& c) {
  Value* x = c.In("self");
  const int64_t axis = c.AxisOf("dim", x->type().rank(), 0);
  const int64_t size = c.DimOf(x, axis);
  const int64_t step = c.Int("step", 1);
  if (step < 1) Invalid("its step is ", step);
  const int64_t start = Clamped(c.Int("start", 0), size);
  const int64_t end = std::max(start, Clamped(c.Int("end", INT64_MAX), size));
  const int64_t span = end - start;
  const int64_t count = span / step + (span % step != 0 ? 1 : 0);
  return {c.SliceAxis(x, axis, count == 0 ? 0 : start, count, count > 1 ? step : 1)};
}

Outputs Select(OpContext& c) {
  Value* x = c.In("self");
  const int64_t axis = Emitter::Axis(c.Int("dim"), x->type().rank());
  const int64_t index = IndexInto(c, c.DimOf(x, axis));
  return {c.Squeeze(c.SliceAxis(x, axis, index, 1), {axis})};
}

Outputs SliceScatter(OpContext& c) {
  const int64_t axis = c.AxisOf("dim", c.InRank("self"), 0);
  const int64_t size = c.DimOf(c.In("self"), axis);
  if (c.Int("step", 1) != 1) Unsupported("a step of ", c.Int("step"));
  const int64_t start = Clamped(c.Int("start", 0), size);
  const int64_t end = std::max(start, Clamped(c.Int("end", INT64_MAX), size));
  return {WithSource(c, axis, start, end - start, /*adds_axis=*/false)};
}

Outputs SelectScatter(OpContext& c) {
  const int64_t axis = Emitter::Axis(c.Int("dim"), c.InRank("self"));
  const int64_t index = IndexInto(c, c.DimOf(c.In("self"), axis));
  return {WithSource(c, axis, index, 1, /*adds_axis=*/true)};
}

Outputs Narrow(OpContext& c) {
  Value* x = c.In("self");
  const int64_t axis = Emitter::Axis(c.Int("dim"), x->type().rank());
  const int64_t start = Clamped(c.Int("start"), c.DimOf(x, axis));
  return {c.SliceAxis(x, axis, start, CheckedSize(c.Int("length"), "length"))};
}

Outputs Flip(OpContext& c) {
  const Shape shape = c.InShape("self");
  Ints starts(shape.size(), 0);
  Ints steps(shape.size(), 1);
  for (int64_t dim : c.IntList("dims")) {
    const int64_t axis = Emitter::Axis(dim, c.InRank("self"));
    if (shape[axis] == 0) continue;
    starts[axis] = shape[axis] - 1;
    steps[axis] = -1;
  }
  return {c.Slice(c.In("self"), starts, shape, steps)};
}

// Without axes, rolls the flattened tensor.
Outputs Roll(OpContext& c) {
  Value* x = c.In("self");
  const Shape shape = c.ShapeOf(x);
  const Ints shifts = c.IntList("shifts");
  Ints axes = c.IntList("dims", {});
  const bool flat = axes.empty();
  if (flat) {
    axes = {0};
    x = c.Reshape(x, {Product(shape)});
  }
  if (shifts.size() != axes.size()) Invalid("it has ", shifts.size(), " shifts for ", axes.size(), " axes");
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = Emitter::Axis(axes[i], x->type().rank());
    const int64_t size = c.DimOf(x, axis);
    if (size == 0) continue;
    const int64_t shift = (shifts[i] % size + size) % size;
    if (shift == 0) continue;
    x = c.Concat({c.SliceAxis(x, axis, size - shift, shift), c.SliceAxis(x, axis, 0, size - shift)}, axis);
  }
  return {flat ? c.Reshape(x, shape) : x};
}

// The elements' order in memory is unknown, so a view as another type of the same size is not supported.
Outputs ViewAsType(OpContext& c) {
  if (*c.OptionalType("dtype") != c.InType("self")) Unsupported("a view of the same bytes as another type");
  return {c.In("self")};
}

}  // namespace attune::pytorch
