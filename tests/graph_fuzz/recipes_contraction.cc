#include <algorithm>

#include "recipes.h"

namespace attune::graph_fuzz {
namespace {

Shape SpatialOf(const Value* x) {
  const Shape shape = x->type().shape();
  return Shape(shape.begin() + 2, shape.end());
}

// How many groups `channels` are divided into: mostly one, or as many as there are channels.
int64_t DrawGroup(GraphMaker& maker, int64_t channels) {
  if (!maker.OneIn(3)) return 1;
  if (maker.OneIn(2)) return channels;
  std::vector<int64_t> divisors;
  for (int64_t d = 1; d <= channels; ++d) {
    if (channels % d == 0) divisors.push_back(d);
  }
  return divisors[static_cast<size_t>(maker.Pick(std::ssize(divisors)))];
}

int SpatialRank(GraphMaker& maker) { return maker.OneIn(4) ? maker.OneOf({1, 3}) : 2; }

// Weights so small that sums of their products stay in the range of the inputs.
Value* Weights(GraphMaker& maker, DType dtype, const Shape& shape) {
  Range range = maker.FloatRange();
  range.low /= 4;
  range.high /= 4;
  return maker.New(dtype, shape, range, maker.OneIn(5) ? 0 : 3);
}

Value* Bias(GraphMaker& maker, DType dtype, int64_t channels) {
  return maker.OneIn(2) ? nullptr : maker.New(dtype, {channels}, 3);
}

}  // namespace

Attributes RandomWindow::AsAttributes() const {
  Attributes attrs;
  const auto set = [&](const char* name, const Ints& values, int64_t usual) {
    const bool is_usual = std::ranges::all_of(values, [usual](int64_t v) { return v == usual; });
    if (!leave_out || !is_usual) attrs.Set(name, values);
  };
  set("strides", strides, 1);
  set("pads", pads, 0);
  set("dilations", dilations, 1);
  return attrs;
}

RandomWindow DrawWindow(GraphMaker& maker, const Shape& sizes, bool pads_in_window) {
  const size_t rank = sizes.size();
  RandomWindow window{Ints(rank), Ints(rank, 1), Ints(2 * rank, 0), Ints(rank, 1), maker.OneIn(2)};
  const int64_t usual = maker.OneOf<int64_t>({1, 1, 3, 3, 3, 2, 5, 7});
  const bool same = maker.OneIn(2), is_odd_one = maker.OneIn(4);
  for (size_t i = 0; i < rank; ++i) {
    window.kernel[i] = is_odd_one ? 1 + maker.Pick(5) : usual;
    if (maker.OneIn(8)) window.dilations[i] = 1 + maker.Pick(3);
    if (maker.OneIn(4)) window.strides[i] = 1 + maker.Pick(3);
    const int64_t most = pads_in_window ? window.kernel[i] - 1 : window.kernel[i];
    for (size_t side : {i, i + rank}) {
      window.pads[side] = same ? std::min((window.kernel[i] - 1) / 2 * window.dilations[i], most)
                               : std::min(maker.Pick(3), most);
    }
    const auto extent = [&] { return (window.kernel[i] - 1) * window.dilations[i] + 1; };
    const auto padded = sizes[i] + window.pads[i] + window.pads[i + rank];
    if (extent() > padded) window.dilations[i] = 1;
    if (extent() > padded) window.kernel[i] = std::max<int64_t>(padded, 1);
    if (pads_in_window) {
      for (size_t side : {i, i + rank}) window.pads[side] = std::min(window.pads[side], window.kernel[i] - 1);
    }
  }
  return window;
}

Value* AddConv(GraphMaker& maker, Op op) {
  Value* x = maker.FeatureMap(SpatialRank(maker));
  const int64_t channels = x->type().shape()[1];
  const int64_t group = DrawGroup(maker, channels);
  const int64_t outputs =
      maker.OneIn(3) && group == channels ? group : group * std::max<int64_t>(1, maker.Channels() / group);
  const RandomWindow window = DrawWindow(maker, SpatialOf(x), false);
  Shape shape = {outputs, channels / group};
  shape.insert(shape.end(), window.kernel.begin(), window.kernel.end());
  Attributes attrs = window.AsAttributes();
  if (group > 1) attrs.Set("group", group);
  const DType dtype = x->type().dtype;
  return maker.Add(op, {x, Weights(maker, dtype, shape), Bias(maker, dtype, outputs)}, std::move(attrs));
}

Value* AddConvTranspose(GraphMaker& maker, Op op) {
  Value* x = maker.FeatureMap(SpatialRank(maker));
  const int64_t channels = x->type().shape()[1];
  const int64_t group = DrawGroup(maker, channels);
  const int64_t outputs = group == channels ? 1 + maker.Pick(2) : maker.Channels() / 2 + 1;
  const RandomWindow window = DrawWindow(maker, SpatialOf(x), true);
  Shape shape = {channels, outputs};
  shape.insert(shape.end(), window.kernel.begin(), window.kernel.end());
  Attributes attrs = window.AsAttributes();
  if (group > 1) attrs.Set("group", group);
  if (maker.OneIn(3)) {
    Ints extra;
    for (int64_t stride : window.strides) extra.push_back(maker.Pick(stride));
    attrs.Set("output_padding", extra);
  }
  const DType dtype = x->type().dtype;
  return maker.Add(op, {x, Weights(maker, dtype, shape), Bias(maker, dtype, outputs * group)},
                   std::move(attrs));
}

Value* AddDeformConv(GraphMaker& maker, Op op) {
  Value* x = maker.FeatureMap();
  const Shape shape = x->type().shape();
  const DType dtype = x->type().dtype;
  const RandomWindow window = DrawWindow(maker, SpatialOf(x), false);
  const int64_t group = DrawGroup(maker, shape[1]), offset_group = DrawGroup(maker, shape[1]);
  const int64_t outputs = group * (1 + maker.Pick(3));
  Shape samples = {shape[0], 2 * offset_group * window.kernel[0] * window.kernel[1]};
  for (size_t i = 0; i < 2; ++i) {
    const int64_t travel = shape[i + 2] + window.pads[i] + window.pads[i + 2] -
                           ((window.kernel[i] - 1) * window.dilations[i] + 1);
    samples.push_back(travel / window.strides[i] + 1);
  }
  Value* offset = maker.New(dtype, samples, {.low = -1.4, .high = 1.4}, 0);
  samples[1] /= 2;
  Value* mask = maker.OneIn(2) ? nullptr : maker.New(dtype, samples, {.low = 0, .high = 1}, 0);
  Attributes attrs = window.AsAttributes();
  attrs.Set("group", group);
  attrs.Set("offset_group", offset_group);
  Value* w = Weights(maker, dtype, {outputs, shape[1] / group, window.kernel[0], window.kernel[1]});
  return maker.Add(op, {x, offset, w, Bias(maker, dtype, outputs), mask}, std::move(attrs));
}

Value* AddMatMul(GraphMaker& maker, Op op) {
  const auto matrix = [](const Value& v) {
    return (IsFloat(v.type().dtype) || IsInt(v.type().dtype)) && v.type().rank() >= 2 &&
           v.type().is_static() && v.type().shape().back() > 0;
  };
  Value* x = maker.Any(matrix, [&] {
    Shape shape = {maker.Extent(), maker.Extent()};
    for (int i = 0; i < 2; ++i) {
      if (maker.OneIn(3)) shape.insert(shape.begin(), 1 + maker.Pick(3));
    }
    return maker.New(maker.OneIn(8) ? maker.IntType() : maker.FloatType(), shape, 0);
  });
  const bool transposed = maker.OneIn(4), other_transposed = maker.OneIn(3), swapped = maker.OneIn(4);
  const Shape shape = x->type().shape();
  // The size of x's axis that is summed over, whether x is the left operand or the right one.
  const int64_t terms = shape[shape.size() - (swapped == transposed ? 1 : 2)];
  const int64_t free = maker.OneIn(6) ? 1 : maker.Channels();
  Shape other(shape.begin(), shape.end() - 2);
  if (maker.OneIn(2)) other.clear();
  for (int64_t& size : other) {
    if (maker.OneIn(3)) size = 1;
  }
  const bool terms_first = swapped ? other_transposed : !other_transposed;
  other.push_back(terms_first ? terms : free);
  other.push_back(terms_first ? free : terms);
  Value* y = maker.OneIn(3) ? maker.Like(TensorType(x->type().dtype, other))
                            : Weights(maker, x->type().dtype, other);
  Attributes attrs;
  if (swapped ? other_transposed : transposed) attrs.Set("transpose_a", int64_t{1});
  if (swapped ? transposed : other_transposed) attrs.Set("transpose_b", int64_t{1});
  return swapped ? maker.Add(op, {y, x}, std::move(attrs)) : maker.Add(op, {x, y}, std::move(attrs));
}

Value* AddAttention(GraphMaker& maker, Op op) {
  const auto heads = [](const Value& v) {
    return IsFloat(v.type().dtype) && v.type().rank() == 4 && v.type().is_static() &&
           v.type().num_elements() > 0 && v.type().shape()[3] <= 64;
  };
  Value* q = maker.Any(heads, [&] {
    return maker.New(maker.FloatType(),
                     {1 + maker.Pick(2), 1 + maker.Pick(4), maker.Extent(), maker.Channels()}, 0);
  });
  const Shape shape = q->type().shape();
  const DType dtype = q->type().dtype;
  const int64_t keys = maker.OneIn(2) ? shape[2] : maker.Extent() * (1 + maker.Pick(3));
  const int64_t width = maker.OneIn(2) ? shape[3] : maker.Channels();
  Value* k = maker.Like(TensorType(dtype, Shape{shape[0], shape[1], keys, shape[3]}));
  Value* v = maker.Like(TensorType(dtype, Shape{shape[0], shape[1], keys, width}));
  Value* mask = nullptr;
  if (maker.OneIn(2)) mask = maker.New(dtype, maker.ShapeWithin({shape[0], shape[1], shape[2], keys}), 1);
  return maker.Add(op, {q, k, v, mask}, {{"scale", maker.OneOf({0.125, 0.25, 0.3, 1.0})}});
}

Value* AddDet(GraphMaker& maker, Op op) {
  const int64_t size = 1 + maker.Pick(5);
  Shape shape = {size, size};
  if (maker.OneIn(2)) shape.insert(shape.begin(), 1 + maker.Pick(4));
  return maker.Add(op, {maker.New(maker.FloatType(), shape, 0)});
}

}  // namespace attune::graph_fuzz
