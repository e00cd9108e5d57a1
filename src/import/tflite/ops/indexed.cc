// Gathers and scatters.
#include <algorithm>
#include <limits>
#include <string>

#include "import/tflite/ops/lowerings.h"

namespace attune::tflite {
namespace {

// The batch axes are the same in data and indices, so each index becomes a position: [batch…, indices…, 1].
Value* GatherBatched(OpContext& c, int64_t axis, int64_t batch_dims) {
  const int64_t rank = c.InRank(0);
  const int64_t index_rank = c.InRank(1);
  if (batch_dims > axis || batch_dims > index_rank)
    Invalid("it has ", batch_dims, " batch axes, its axis is ", axis);
  // Move the gathered axis directly after the batch; the axes in between come after the indices.
  Ints perm = Iota(rank);
  std::rotate(perm.begin() + batch_dims, perm.begin() + axis, perm.begin() + axis + 1);
  Value* indices = c.NonNegative(c.Stored(1), c.Stored(0), axis, 1, "gather");
  indices = c.Unsqueeze(indices, {index_rank});
  Value* y = c.Emit(Op::kGatherNd, {c.Transpose(c.Stored(0), perm), indices}, {{"batch_dims", batch_dims}});
  // Transpose [batch, indices, between, after] to [batch, between, indices, after].
  Ints back = Iota(y->type().rank());
  const auto first = back.begin() + batch_dims;
  std::rotate(first, first + (index_rank - batch_dims),
              first + (index_rank - batch_dims) + (axis - batch_dims));
  return c.Transpose(y, back);
}

// How many axes the positions in the last axis of `indices` have, at most those of `x`.
int64_t NumIndexed(const Value* indices, const Value* x) {
  const int64_t rank = x->type().rank();
  return indices->type().rank() == 0 ? 0 : std::min(indices->type().dims.back().size, rank);
}

Value* ScatterInto(OpContext& c, Value* base, Value* indices, Value* updates, const char* reduction) {
  indices = c.NonNegative(indices, base, 0, NumIndexed(indices, base), "scatter_nd");
  return c.Emit(Op::kScatterNd, {base, indices, updates}, {{"reduction", std::string(reduction)}});
}

// Combines the rows of the data by segment, for `count` segments; a negative segment means none, and goes
// to a row that is removed.
Outputs Segments(OpContext& c, int64_t count, const char* reduction, const ExactNumber& start) {
  Value* data = c.Stored(0);
  Value* segments = c.Stored(1);
  const Shape shape = c.InShape(0);
  const int64_t rank = c.InRank(1);
  if (rank > c.InRank(0)) Invalid("its segments have more axes than its data");
  Value* negative = c.Emit(Op::kLess, {segments, c.ScalarLike(segments, 0)});
  segments = c.NonNegative(c.Where(negative, c.ScalarLike(segments, 0), segments),
                           {std::max<int64_t>(count, 1)}, "scatter_nd");
  segments = c.Where(negative, c.ScalarLike(segments, count), segments);
  Shape rows = {CheckedSize(count, "number of segments") + 1};
  rows.insert(rows.end(), shape.begin() + rank, shape.end());
  Value* base = c.Filled(data->type().dtype, start, rows);
  Value* sums = ScatterInto(c, base, c.Unsqueeze(segments, {rank}), data, reduction);
  return {c.SliceAxis(sums, 0, 0, count)};
}

// A number that no number of the type exceeds, or is below.
ExactNumber Extreme(DType dtype, bool highest) {
  if (dtype == DType::kF32) {
    return highest ? std::numeric_limits<float>::max() : std::numeric_limits<float>::lowest();
  }
  if (dtype != DType::kI32) Unsupported("segments of ", DTypeName(dtype));
  return highest ? RangeOf(dtype).max : RangeOf(dtype).min;
}

int64_t NumSegments(OpContext& c) { return c.KnownInt(2, "number of segments"); }

}  // namespace

Outputs Gather(OpContext& c) {
  const auto& options = c.Options<schema::GatherOptions>();
  const int64_t axis = Emitter::Axis(options.axis(), c.InRank(0));
  const int64_t batch_dims =
      options.batch_dims() < 0 ? options.batch_dims() + c.InRank(1) : options.batch_dims();
  if (batch_dims < 0) Invalid("it has ", options.batch_dims(), " batch axes");
  if (batch_dims > 0) return {GatherBatched(c, axis, batch_dims)};
  return {c.Gather(c.Stored(0), c.NonNegative(c.Stored(1), c.Stored(0), axis, 1, "gather"), axis)};
}

Outputs GatherNd(OpContext& c) {
  Value* x = c.Stored(0);
  Value* indices = c.NonNegative(c.Stored(1), x, 0, NumIndexed(c.Stored(1), x), "gather_nd");
  return {c.Emit(Op::kGatherNd, {x, indices}, {{"batch_dims", int64_t{0}}})};
}

// (indices, table)
Outputs EmbeddingLookup(OpContext& c) {
  return {c.Gather(c.In(1), c.NonNegative(c.Stored(0), c.In(1), 0, 1, "gather"), 0)};
}

// (indices, updates, shape): updates with the same index are summed.
Outputs ScatterNd(OpContext& c) {
  const Shape shape = c.KnownInts(2, "shape");
  for (int64_t dim : shape) CheckedSize(dim, "dimension");
  Value* base = c.Filled(c.InType(1), 0, shape);
  return {ScatterInto(c, base, c.Stored(0), c.Stored(1), c.InType(1) == DType::kBool ? "none" : "add")};
}

// (indices, shape, values, default). Indices are [n, rank], [n] for a vector, or a scalar for a vector; one
// value may apply to all.
Outputs SparseToDense(OpContext& c) {
  const Shape shape = c.KnownInts(1, "shape");
  for (int64_t dim : shape) CheckedSize(dim, "dimension");
  Value* indices = c.Stored(0);
  if (c.InRank(0) == 0) indices = c.Reshape(indices, {1, 1});
  if (c.InRank(0) == 1) indices = c.Unsqueeze(indices, {1});
  Value* values = c.Broadcast(c.Stored(2), {c.DimOf(indices, 0)});
  Value* base = c.Broadcast(c.Reshape(c.Stored(3), {}), shape);
  return {ScatterInto(c, base, indices, values, "none")};
}

// The largest segment determines the number of segments.
Outputs SegmentSum(OpContext& c) {
  const Ints segments = c.KnownInts(1, "segments");
  const int64_t count = segments.empty() ? 0 : *std::max_element(segments.begin(), segments.end()) + 1;
  return Segments(c, std::max<int64_t>(count, 0), "add", 0);
}

Outputs UnsortedSegmentSum(OpContext& c) { return Segments(c, NumSegments(c), "add", 0); }
Outputs UnsortedSegmentProd(OpContext& c) { return Segments(c, NumSegments(c), "mul", 1); }
Outputs UnsortedSegmentMax(OpContext& c) {
  return Segments(c, NumSegments(c), "max", Extreme(c.InType(0), false));
}
Outputs UnsortedSegmentMin(OpContext& c) {
  return Segments(c, NumSegments(c), "min", Extreme(c.InType(0), true));
}

// (x, update, start): positions minus the start that are inside the update take its element, the others
// that of x. The start is moved so that the update lies inside x.
Outputs DynamicUpdateSlice(OpContext& c) {
  Value* x = c.Stored(0);
  Value* update = c.Stored(1);
  const Shape shape = c.InShape(0);
  const Shape size = c.InShape(1);
  const int64_t rank = c.InRank(0);
  if (c.InRank(1) != rank) Invalid("its update has another rank than its input");
  Value* inside = nullptr;
  for (int64_t i = 0; i < rank; ++i) {
    if (size[i] > shape[i] || size[i] < 1) Invalid("its update does not fit its input");
    if (size[i] == shape[i]) continue;
    Value* start = c.Cast(c.Reshape(c.SliceAxis(c.Stored(2), 0, i, 1), {}), DType::kI64);
    start = c.Clip(start, 0, shape[i] - size[i]);
    Value* place = c.Sub(c.Count(DType::kI64, shape[i]), start);
    Value* nearest = c.Clip(place, 0, size[i] - 1);
    update = c.Gather(update, nearest, i);
    Shape along(rank - i, 1);
    along[0] = shape[i];
    Value* here = c.Reshape(c.Emit(Op::kEqual, {place, nearest}), along);
    inside = inside == nullptr ? here : c.Emit(Op::kAnd, {inside, here});
  }
  return {inside == nullptr ? update : c.Where(inside, update, x)};
}

// The positions of the nonzero elements, [n, rank].
Outputs WhereTrue(OpContext& c) { return {c.Transpose(c.Emit(Op::kNonZero, {c.Stored(0)}), {1, 0})}; }

// The distinct values in the order of their first occurrence, and for each element the index of its value.
Outputs Unique(OpContext& c) {
  Node* node = c.EmitNode(Op::kUnique, {c.Stored(0)}, {{"sorted", int64_t{0}}});
  return {node->output(0), c.Cast(node->output(2), c.OutType(1))};
}

}  // namespace attune::tflite
