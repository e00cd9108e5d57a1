// Slices, gathers and scatters.
#include <algorithm>
#include <utility>

#include "import/tensorflow/ops/lowerings.h"

namespace attune::tensorflow {
namespace {

// The slice of one axis: `size` elements from `start`, `step` apart.
struct AxisSlice {
  int64_t start = 0;
  int64_t size = 0;
  int64_t step = 1;
};

// StridedSlice's bounds for one axis; a masked end is open.
struct AxisBounds {
  int64_t begin;
  int64_t end;
  int64_t step;
  bool open_begin;
  bool open_end;
};

AxisSlice ClampSlice(const AxisBounds& b, int64_t dim) {
  if (b.step == 0 || b.step == INT64_MIN) Invalid("its stride is ", b.step);
  // The range of positions: from one before the first element if the step is negative, otherwise up to one
  // past the last.
  const int64_t low = b.step > 0 ? 0 : -1;
  const int64_t high = b.step > 0 ? dim : dim - 1;
  const auto place = [&](int64_t position) {
    position = std::clamp(position, -dim - 1, dim);  // prevents overflow in the sum
    return std::clamp(position < 0 ? position + dim : position, low, high);
  };
  const int64_t begin = b.open_begin ? (b.step > 0 ? 0 : dim - 1) : place(b.begin);
  const int64_t end = b.open_end ? (b.step > 0 ? dim : -1) : place(b.end);
  const int64_t span = b.step > 0 ? end - begin : begin - end;
  const int64_t stride = b.step > 0 ? b.step : -b.step;
  if (span <= 0) return {0, 0, 1};
  return {begin, (span - 1) / stride + 1, b.step};
}

// The masks of StridedSlice: bit i is for entry i of `begin`, `end` and `strides`.
class Masks {
 public:
  explicit Masks(OpContext& c)
      : begin_(c.Int("begin_mask", 0)),
        end_(c.Int("end_mask", 0)),
        ellipsis_(c.Int("ellipsis_mask", 0)),
        new_axis_(c.Int("new_axis_mask", 0)),
        shrink_(c.Int("shrink_axis_mask", 0)) {}

  bool begin(size_t i) const { return Bit(begin_, i); }
  bool end(size_t i) const { return Bit(end_, i); }
  bool ellipsis(size_t i) const { return Bit(ellipsis_, i); }
  // An ellipsis has priority over a new axis, and a new axis over a shrunk one.
  bool new_axis(size_t i) const { return Bit(new_axis_, i) && !ellipsis(i); }
  bool shrink(size_t i) const { return Bit(shrink_, i) && !ellipsis(i) && !Bit(new_axis_, i); }

 private:
  static bool Bit(int64_t mask, size_t i) { return i < 63 && (mask >> i & 1) != 0; }

  int64_t begin_;
  int64_t end_;
  int64_t ellipsis_;
  int64_t new_axis_;
  int64_t shrink_;
};

// A slice of every axis, and the shape of the result with axes added and removed.
struct SlicePlan {
  Ints starts;
  Shape sizes;
  Ints steps;
  Shape result;

  void Add(const AxisSlice& slice, bool keep = true) {
    starts.push_back(slice.start);
    sizes.push_back(slice.size);
    steps.push_back(slice.step);
    if (keep) result.push_back(slice.size);
  }
};

AxisSlice SliceOfEntry(const Ints& begin, const Ints& end, const Ints& strides, const Masks& masks, size_t i,
                       int64_t dim) {
  if (!masks.shrink(i)) return ClampSlice({begin[i], end[i], strides[i], masks.begin(i), masks.end(i)}, dim);
  const int64_t at = masks.begin(i) ? 0 : begin[i] < 0 ? begin[i] + dim : begin[i];
  if (at < 0 || at >= dim) Invalid("its index ", begin[i], " lies outside of ", dim, " elements");
  return {at, 1, 1};
}

// The number of axes for an ellipsis: those without another entry.
int64_t EllipsisAxes(const Masks& masks, size_t entries, int64_t rank) {
  bool ellipsis = false;
  for (size_t i = 0; i < entries; ++i) {
    if (masks.ellipsis(i)) {
      if (ellipsis) Invalid("it has two ellipses");
      ellipsis = true;
    } else if (!masks.new_axis(i)) {
      --rank;
    }
  }
  if (rank < 0) Invalid("it slices more axes than its input has");
  return rank;
}

SlicePlan PlanStridedSlice(OpContext& c, const Shape& shape, const Ints& begin, const Ints& end,
                           const Ints& strides) {
  const Masks masks(c);
  const int64_t untouched = EllipsisAxes(masks, begin.size(), static_cast<int64_t>(shape.size()));
  SlicePlan plan;
  const auto whole = [&plan, &shape](int64_t count) {
    for (int64_t i = 0; i < count; ++i) plan.Add({0, shape[plan.starts.size()], 1});
  };
  bool ellipsis = false;
  for (size_t i = 0; i < begin.size(); ++i) {
    if (masks.ellipsis(i)) {
      ellipsis = true;
      whole(untouched);
    } else if (masks.new_axis(i)) {
      plan.result.push_back(1);
    } else {
      const int64_t dim = shape[plan.starts.size()];
      plan.Add(SliceOfEntry(begin, end, strides, masks, i, dim), !masks.shrink(i));
    }
  }
  if (!ellipsis) whole(untouched);
  return plan;
}

// Positions in `x` by the last axis of `indices`, from axis `first` on.
Value* Positions(OpContext& c, Value* indices, Value* x, int64_t first, std::string_view reader) {
  const int64_t most = x->type().rank() - first;
  const int64_t count = indices->type().rank() == 0 ? 0 : std::min(indices->type().dims.back().size, most);
  return c.NonNegative(indices, x, first, count, reader);
}

Value* ScatterOver(OpContext& c, Value* base, Value* indices, Value* updates, std::string reduction) {
  indices = Positions(c, indices, base, 0, "scatter_nd");
  return c.Emit(Op::kScatterNd, {base, indices, updates}, {{"reduction", std::move(reduction)}});
}

// Gathers rows along `axis`; with batch_dims, each batch in the leading axes has its own indices.
Value* GatherRows(OpContext& c, Value* x, Value* indices, int64_t axis, int64_t batch_dims) {
  if (batch_dims < 0) batch_dims += indices->type().rank();
  if (batch_dims == 0) return c.Gather(x, c.NonNegative(indices, x, axis, 1, "gather"), axis);
  if (axis != batch_dims) Unsupported("batch_dims ", batch_dims, " with axis ", axis);
  indices = Positions(c, c.Unsqueeze(indices, {-1}), x, batch_dims, "gather_nd");
  return c.Emit(Op::kGatherNd, {x, indices}, {{"batch_dims", batch_dims}});
}

// Indices must be i32 or i64.
Value* AsIndices(OpContext& c, Value* x) {
  const DType dtype = x->type().dtype;
  return dtype == DType::kI32 || dtype == DType::kI64 ? x : c.Cast(x, DType::kI32);
}

}  // namespace

Outputs Slice(OpContext& c) {
  Value* x = c.In(0);
  const Ints begin = c.KnownInts(c.In(1), "begin");
  Ints size = c.KnownInts(c.In(2), "size");
  const Shape shape = x->type().shape();
  if (begin.size() != shape.size() || size.size() != shape.size())
    Invalid("its 'begin' and 'size' do not fit");
  for (size_t i = 0; i < size.size(); ++i) {
    if (begin[i] < 0 || begin[i] > shape[i])
      Invalid("it begins at ", begin[i], " of ", shape[i], " elements");
    if (size[i] == -1) size[i] = shape[i] - begin[i];
  }
  return {c.Slice(x, begin, size, Ints(shape.size(), 1))};
}

Outputs StridedSlice(OpContext& c) {
  Value* x = c.In(0);
  const Ints begin = c.KnownInts(c.In(1), "begin");
  const Ints end = c.KnownInts(c.In(2), "end");
  const Ints strides = c.KnownInts(c.In(3), "strides");
  if (end.size() != begin.size() || strides.size() != begin.size()) {
    Invalid("its 'begin', 'end' and 'strides' differ in length");
  }
  const SlicePlan plan = PlanStridedSlice(c, x->type().shape(), begin, end, strides);
  return {c.Reshape(c.Slice(x, plan.starts, plan.sizes, plan.steps), plan.result)};
}

Outputs Gather(OpContext& c) {
  Value* x = c.In(0);
  const int64_t axis = c.num_inputs() > 2 ? c.KnownInt(c.In(2), "axis") : 0;
  return {
      GatherRows(c, x, AsIndices(c, c.In(1)), Emitter::Axis(axis, x->type().rank()), c.Int("batch_dims", 0))};
}

// For a variable: (variable, indices).
Outputs GatherVariable(OpContext& c) {
  const int64_t batch_dims = c.Int("batch_dims", 0);
  return {GatherRows(c, c.VariableValue(0), AsIndices(c, c.In(1)), batch_dims, batch_dims)};
}

Outputs GatherNd(OpContext& c) {
  Value* x = c.VariableValue(0);
  return {c.Emit(Op::kGatherNd, {x, Positions(c, AsIndices(c, c.In(1)), x, 0, "gather_nd")})};
}

// (indices, updates, shape): updates with the same index are summed.
Outputs ScatterNd(OpContext& c) {
  const Shape shape = c.KnownInts(c.In(2), "shape");
  return {ScatterOver(c, c.Filled(c.InType(1), 0, shape), c.In(0), c.In(1), "add")};
}

Outputs TensorScatterUpdate(OpContext& c) { return {ScatterOver(c, c.In(0), c.In(1), c.In(2), "none")}; }
Outputs TensorScatterAdd(OpContext& c) { return {ScatterOver(c, c.In(0), c.In(1), c.In(2), "add")}; }
Outputs TensorScatterMax(OpContext& c) { return {ScatterOver(c, c.In(0), c.In(1), c.In(2), "max")}; }
Outputs TensorScatterMin(OpContext& c) { return {ScatterOver(c, c.In(0), c.In(1), c.In(2), "min")}; }
Outputs TensorScatterSub(OpContext& c) {
  return {ScatterOver(c, c.In(0), c.In(1), c.Emit(Op::kNeg, {c.In(2)}), "add")};
}

}  // namespace attune::tensorflow
