// Windows and normalizations.
#include <algorithm>

#include "recipes.h"

namespace attune::graph_fuzz {
namespace {

// A positive range, as for a variance or an epsilon.
constexpr Range kPositive = {.low = 0.3, .high = 2};

Value* Parameter(GraphMaker& maker, DType dtype, const Shape& shape) {
  return maker.New(dtype, shape, maker.OneIn(6) ? 0 : 3);
}

// A float with at least `rank` dimensions, none of them empty.
Value* FloatOfRank(GraphMaker& maker, int rank) {
  return maker.Any(
      [rank](const Value& v) {
        return IsFloat(v.type().dtype) && v.type().rank() >= rank && v.type().is_static() &&
               v.type().num_elements() > 0;
      },
      [&] {
        Shape shape(static_cast<size_t>(rank) + static_cast<size_t>(maker.Pick(3)));
        for (int64_t& size : shape) size = maker.Extent();
        return maker.New(maker.FloatType(), shape, 0);
      });
}

}  // namespace

Value* AddPool(GraphMaker& maker, Op op) {
  Value* x = maker.FeatureMap(maker.OneIn(5) ? maker.OneOf({1, 3}) : 2);
  const Shape shape = x->type().shape();
  const RandomWindow window = DrawWindow(maker, Shape(shape.begin() + 2, shape.end()), true);
  Attributes attrs = window.AsAttributes();
  attrs.Set("kernel", window.kernel);
  attrs.Set("ceil_mode", maker.Pick(2));
  if (op == Op::kAvgPool) attrs.Set("count_include_pad", maker.Pick(2));
  return maker.Add(op, {x}, std::move(attrs), op == Op::kAvgPool ? -1 : maker.OneIn(4) ? 2 : 1);
}

Value* AddLrn(GraphMaker& maker, Op op) {
  return maker.Add(op, {FloatOfRank(maker, 2)},
                   {{"size", 1 + maker.Pick(7)},
                    {"alpha", maker.OneOf({0.0001, 0.1, 1.0})},
                    {"beta", maker.OneOf({0.5, 0.75, 1.0})},
                    {"bias", maker.OneOf({1.0, 2.0})}});
}

Value* AddCol2Im(GraphMaker& maker, Op op) {
  const Shape image(static_cast<size_t>(1 + maker.Pick(2)), 3 + maker.Pick(7));
  const RandomWindow window = DrawWindow(maker, image, false);
  int64_t windows = 1, area = 1;
  for (size_t i = 0; i < image.size(); ++i) {
    const int64_t travel = image[i] + window.pads[i] + window.pads[i + image.size()] -
                           ((window.kernel[i] - 1) * window.dilations[i] + 1);
    windows *= travel / window.strides[i] + 1;
    area *= window.kernel[i];
  }
  Attributes attrs = window.AsAttributes();
  attrs.Set("image", image);
  attrs.Set("block", window.kernel);
  const TensorType type(maker.FloatType(), Shape{1 + maker.Pick(2), area * (1 + maker.Pick(4)), windows});
  return maker.Add(op, {maker.Like(type)}, std::move(attrs));
}

Value* AddBatchNorm(GraphMaker& maker, Op op) {
  Value* x = maker.OneIn(3) ? FloatOfRank(maker, 2) : maker.FeatureMap();
  const DType dtype = x->type().dtype;
  const Shape channels = {x->type().shape()[1]};
  return maker.Add(op,
                   {x, Parameter(maker, dtype, channels), Parameter(maker, dtype, channels),
                    Parameter(maker, dtype, channels), maker.New(dtype, channels, kPositive, 3)},
                   {{"epsilon", maker.OneOf({1e-5, 1e-3, 0.1})}});
}

Value* AddTailNorm(GraphMaker& maker, Op op) {
  Value* x = FloatOfRank(maker, 1);
  const int64_t axis = x->type().rank() - 1 - (maker.OneIn(3) ? maker.Pick(x->type().rank()) : 0);
  const Shape shape = x->type().shape();
  const Shape tail(shape.begin() + axis, shape.end());
  const DType dtype = x->type().dtype;
  Value* scale = maker.OneIn(4) ? nullptr : Parameter(maker, dtype, tail);
  Value* bias = op == Op::kRmsNorm || maker.OneIn(3) ? nullptr : Parameter(maker, dtype, tail);
  return maker.Add(op, {x, scale, bias}, {{"axis", axis}, {"epsilon", maker.OneOf({1e-5, 1e-3, 0.1})}});
}

Value* AddGroupNorm(GraphMaker& maker, Op op) {
  Value* x = maker.OneIn(4) ? FloatOfRank(maker, 2) : maker.FeatureMap();
  const int64_t channels = x->type().shape()[1];
  std::vector<int64_t> divisors;
  for (int64_t d = 1; d <= channels; ++d) {
    if (channels % d == 0) divisors.push_back(d);
  }
  const DType dtype = x->type().dtype;
  return maker.Add(op, {x, Parameter(maker, dtype, {channels}), Parameter(maker, dtype, {channels})},
                   {{"groups", divisors[static_cast<size_t>(maker.Pick(std::ssize(divisors)))]},
                    {"epsilon", maker.OneOf({1e-5, 1e-3, 0.1})}});
}

Value* AddSoftmax(GraphMaker& maker, Op op) {
  Value* x = FloatOfRank(maker, 1);
  const int64_t axis = maker.OneIn(3) ? maker.Pick(x->type().rank()) : x->type().rank() - 1;
  return maker.Add(op, {x}, {{"axis", axis}});
}

}  // namespace attune::graph_fuzz
