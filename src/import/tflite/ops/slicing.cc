// Parts of tensors.
#include <algorithm>

#include "import/tflite/ops/lowerings.h"

namespace attune::tflite {
namespace {

// Consecutive parts of `sizes` elements along `axis`.
Outputs SplitInto(OpContext& c, Value* x, int64_t axis, const Ints& sizes, int64_t stated) {
  if (stated != c.num_outputs())
    Invalid("it splits into ", stated, " parts, but has ", c.num_outputs(), " outputs");
  if (static_cast<int>(sizes.size()) != c.num_outputs()) {
    Invalid("it splits into ", sizes.size(), " parts, but has ", c.num_outputs(), " outputs");
  }
  return c.Split(x, axis, sizes);
}

// Bit i of a mask is for entry i of the slice's specification.
struct Specification {
  Ints begin;
  Ints end;
  Ints strides;
  const schema::StridedSliceOptions* options;

  bool Has(int32_t mask, size_t i) const { return i < 32 && (static_cast<uint32_t>(mask) >> i & 1) != 0; }
  bool is_ellipsis(size_t i) const { return Has(options->ellipsis_mask(), i); }
  bool is_new_axis(size_t i) const { return !is_ellipsis(i) && Has(options->new_axis_mask(), i); }
  bool shrinks(size_t i) const { return Has(options->shrink_axis_mask(), i); }
};

Specification ReadSpecification(OpContext& c) {
  Specification s{.begin = c.KnownInts(1, "begin"),
                  .end = c.KnownInts(2, "end"),
                  .strides = c.KnownInts(3, "strides"),
                  .options = &c.Options<schema::StridedSliceOptions>()};
  if (s.end.size() != s.begin.size() || s.strides.size() != s.begin.size()) {
    Invalid("its 'begin', 'end' and 'strides' differ in length");
  }
  constexpr int64_t kLowest = -(int64_t{1} << 40);
  for (size_t i = 0; s.options->offset() && i < s.end.size(); ++i) {
    s.end[i] = CheckedSize(s.begin[i], "begin", kLowest) + CheckedSize(s.end[i], "end", kLowest);
  }
  return s;
}

struct AxisSlice {
  int64_t start;
  int64_t size;
  int64_t step;
};

// Negative positions count from the end; positions beyond the axis mean its ends.
AxisSlice SliceOf(const Specification& s, size_t i, int64_t dim) {
  const int64_t step = s.strides[i];
  if (step == 0 || step < -INT32_MAX || step > INT32_MAX) Invalid("its stride is ", step);
  const auto position = [dim](int64_t p) { return p < 0 ? std::max<int64_t>(p, -dim - 1) + dim : p; };
  if (s.shrinks(i)) {
    // Takes one element, whatever the end is.
    const int64_t at = position(s.begin[i]);
    if (at < 0 || at >= dim) Invalid("it takes element ", s.begin[i], " of an axis of ", dim);
    return {at, 1, 1};
  }
  const int64_t low = step > 0 ? 0 : -1;
  const int64_t high = step > 0 ? dim : dim - 1;
  const int64_t start = s.Has(s.options->begin_mask(), i) ? (step > 0 ? low : high)
                                                          : std::clamp(position(s.begin[i]), low, high);
  const int64_t end =
      s.Has(s.options->end_mask(), i) ? (step > 0 ? high : low) : std::clamp(position(s.end[i]), low, high);
  const int64_t span = step > 0 ? end - start : start - end;
  const int64_t size = span <= 0 ? 0 : (span - 1) / (step > 0 ? step : -step) + 1;
  return {size == 0 ? 0 : start, size, step};
}

}  // namespace

// A size of -1 extends to the end of the axis.
Outputs Slice(OpContext& c) {
  const Ints starts = c.KnownInts(1, "begin");
  Ints sizes = c.KnownInts(2, "size");
  const Shape shape = c.InShape(0);
  if (starts.size() != shape.size() || sizes.size() != shape.size())
    Invalid("its 'begin' and 'size' do not fit its input");
  for (size_t i = 0; i < shape.size(); ++i) {
    if (starts[i] < 0 || starts[i] > shape[i]) Invalid("it begins at ", starts[i], " of ", shape[i]);
    if (sizes[i] == -1) sizes[i] = shape[i] - starts[i];
  }
  return {c.Slice(c.Stored(0), starts, sizes, Ints(shape.size(), 1))};
}

// Each entry of the specification is for one axis, except the ellipsis, which is for the remaining axes,
// and new axes, which are for none.
Outputs StridedSlice(OpContext& c) {
  const Specification s = ReadSpecification(c);
  const Shape shape = c.InShape(0);
  const size_t entries = s.begin.size();
  size_t named = 0;
  for (size_t i = 0; i < entries; ++i) named += s.is_ellipsis(i) || s.is_new_axis(i) ? 0 : 1;
  if (named > shape.size()) Invalid("it slices ", named, " axes of rank ", shape.size());
  Ints starts(shape.size(), 0);
  Ints sizes = shape;
  Ints steps(shape.size(), 1);
  Shape result;
  size_t axis = 0;
  bool rest_taken = false;
  const auto take_rest = [&] {
    for (size_t left = rest_taken ? 0 : shape.size() - named; left > 0; --left)
      result.push_back(shape[axis++]);
    rest_taken = true;
  };
  for (size_t i = 0; i < entries; ++i) {
    if (s.is_ellipsis(i)) {
      take_rest();
    } else if (s.is_new_axis(i)) {
      result.push_back(1);
    } else {
      const AxisSlice slice = SliceOf(s, i, shape[axis]);
      starts[axis] = slice.start;
      sizes[axis] = slice.size;
      steps[axis] = slice.step;
      if (!s.shrinks(i)) result.push_back(slice.size);
      ++axis;
    }
  }
  take_rest();
  return {c.Reshape(c.Slice(c.Stored(0), starts, sizes, steps), result)};
}

// (axis, x)
Outputs Split(OpContext& c) {
  const int64_t axis = Emitter::Axis(c.KnownInt(0, "axis"), c.InRank(1));
  const int64_t parts = c.num_outputs();
  const int64_t dim = c.DimOf(c.Stored(1), axis);
  if (parts == 0 || dim % parts != 0) Invalid("it splits ", dim, " elements into ", parts, " parts");
  return SplitInto(c, c.Stored(1), axis, Ints(parts, dim / parts),
                   c.Options<schema::SplitOptions>().num_splits());
}

// (x, sizes, axis): one size may be -1, and is then inferred from the others.
Outputs SplitV(OpContext& c) {
  const int64_t axis = Emitter::Axis(c.KnownInt(2, "axis"), c.InRank(0));
  Ints sizes = c.KnownInts(1, "sizes");
  int64_t left = c.DimOf(c.Stored(0), axis);
  for (int64_t size : sizes)
    left = std::max<int64_t>(left - (size == -1 ? 0 : CheckedSize(size, "size")), -1);
  const auto open = std::find(sizes.begin(), sizes.end(), -1);
  if (open != sizes.end()) *open = left;
  return SplitInto(c, c.Stored(0), axis, sizes, c.Options<schema::SplitVOptions>().num_splits());
}

}  // namespace attune::tflite
