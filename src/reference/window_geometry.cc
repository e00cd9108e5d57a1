#include "reference/window_geometry.h"

#include "base/checked.h"
#include "reference/values.h"

namespace attune::reference {
namespace {

WindowGeometry ReadAttributes(const Attributes& attrs, Shape in, Shape kernel) {
  WindowGeometry window;
  const size_t rank = in.size();
  window.in = std::move(in);
  window.kernel = std::move(kernel);
  window.strides = attrs.IntList("strides", Shape(rank, 1));
  window.dilations = attrs.IntList("dilations", Shape(rank, 1));
  const Shape pads = attrs.IntList("pads", Shape(2 * rank, 0));
  window.begins.assign(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(rank));
  window.ends.assign(pads.begin() + static_cast<ptrdiff_t>(rank), pads.end());
  return window;
}

// The input position that tap k of output position o reads, or kOutside.
int64_t SourcePosition(const WindowGeometry& window, bool transposed, int axis, int64_t o, int64_t k) {
  int64_t position = 0;
  if (transposed) {
    const int64_t scaled = o + window.begins[axis] - k * window.dilations[axis];
    if (scaled % window.strides[axis] != 0) return TapTable::kOutside;
    position = scaled / window.strides[axis];
  } else {
    position = window.Position(axis, o, k);
  }
  return position >= 0 && position < window.in[axis] ? position : TapTable::kOutside;
}

}  // namespace

WindowGeometry ReadWindow(const Attributes& attrs, Shape in, Shape kernel) {
  WindowGeometry window = ReadAttributes(attrs, std::move(in), std::move(kernel));
  const bool ceil_mode = attrs.Bool("ceil_mode");
  for (int axis = 0; axis < window.rank(); ++axis) {
    const int64_t extent = (window.kernel[axis] - 1) * window.dilations[axis] + 1;
    const int64_t room = window.in[axis] + window.begins[axis] + window.ends[axis] - extent;
    const int64_t stride = window.strides[axis];
    int64_t count = room < 0 ? 0 : (ceil_mode ? CeilDiv(room, stride) : room / stride) + 1;
    if (ceil_mode && (count - 1) * stride >= window.in[axis] + window.begins[axis]) --count;
    window.out.push_back(count);
  }
  return window;
}

WindowGeometry ReadTransposedWindow(const Attributes& attrs, Shape in, Shape kernel) {
  WindowGeometry window = ReadAttributes(attrs, std::move(in), std::move(kernel));
  const Shape extra = attrs.IntList("output_padding", Shape(window.in.size(), 0));
  for (int axis = 0; axis < window.rank(); ++axis) {
    window.out.push_back((window.in[axis] - 1) * window.strides[axis] +
                         (window.kernel[axis] - 1) * window.dilations[axis] + 1 - window.begins[axis] -
                         window.ends[axis] + extra[axis]);
  }
  return window;
}

TapTable::TapTable(const WindowGeometry& window, bool transposed) : out_(window.out), kernel_(window.kernel) {
  const Shape strides = RowMajorStrides(window.in);
  offsets_.resize(window.in.size());
  for (int axis = 0; axis < window.rank(); ++axis) {
    for (int64_t k = 0; k < window.kernel[axis]; ++k) {
      for (int64_t o = 0; o < window.out[axis]; ++o) {
        const int64_t position = SourcePosition(window, transposed, axis, o, k);
        offsets_[axis].push_back(position == kOutside ? kOutside : position * strides[axis]);
      }
    }
  }
}

void TapTable::Sources(int64_t tap, int64_t first, int64_t count, int64_t* sources) const {
  const Shape taps = Unflatten(tap, kernel_);
  Shape index = Unflatten(first, out_);
  const int rank = static_cast<int>(out_.size());
  for (int64_t p = 0; p < count; ++p) {
    sources[p] = 0;
    for (int axis = 0; axis < rank; ++axis) {
      const int64_t offset = offsets_[axis][taps[axis] * out_[axis] + index[axis]];
      if (offset == kOutside) {
        sources[p] = kOutside;
        break;
      }
      sources[p] += offset;
    }
    for (int axis = rank - 1; axis >= 0; --axis) {
      if (++index[axis] < out_[axis]) break;
      index[axis] = 0;
    }
  }
}

Shape Unflatten(int64_t flat, const Shape& shape) {
  Shape index(shape.size(), 0);
  for (int axis = static_cast<int>(shape.size()) - 1; axis >= 0; --axis) {
    index[axis] = flat % shape[axis];
    flat /= shape[axis];
  }
  return index;
}

}  // namespace attune::reference
