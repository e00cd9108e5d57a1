#include <algorithm>

#include "recipes.h"

namespace attune::graph_fuzz {
namespace {

bool IsByte(const Value& v) { return v.type().dtype == DType::kU8 || v.type().dtype == DType::kI8; }

// The whole range of the type including its ends, where products and sums are largest.
Range RangeOf(DType dtype) {
  switch (dtype) {
    case DType::kU8:
      return {.low = 0, .high = 255};
    case DType::kI8:
      return {.low = -128, .high = 127};
    case DType::kU16:
      return {.low = 0, .high = 65535};
    case DType::kI16:
      return {.low = -32768, .high = 32767};
    default:
      return {.low = -40000, .high = 40000};
  }
}

Value* Integers(GraphMaker& maker, DType dtype, const Shape& shape, int constants) {
  return maker.New(dtype, shape, RangeOf(dtype), constants);
}

// A zero point: absent, a scalar, or (if `size` is not 0) a vector of `size`.
Value* ZeroPoint(GraphMaker& maker, DType dtype, int64_t size) {
  if (maker.OneIn(3)) return nullptr;
  const Shape shape = size > 0 && maker.OneIn(2) ? Shape{size} : Shape{};
  return Integers(maker, dtype, shape, maker.OneIn(5) ? 0 : 3);
}

DType QuantizedType(GraphMaker& maker) {
  return maker.OneOf({DType::kU8, DType::kI8, DType::kU8, DType::kI8, DType::kI16, DType::kU16});
}

// The scale's shape and attributes: one number, or one per index along an axis, or one per block of it.
struct Scale {
  Shape shape;
  Attributes attrs;
};

Scale DrawScale(GraphMaker& maker, const Shape& shape, bool blocks) {
  Scale scale;
  if (shape.empty() || maker.OneIn(2)) return scale;
  const auto axis =
      static_cast<size_t>(shape.size() > 1 && maker.OneIn(2) ? 1 : maker.Pick(std::ssize(shape)));
  scale.attrs.Set("axis", static_cast<int64_t>(axis));
  scale.shape = {shape[axis]};
  if (blocks && shape[axis] > 0 && maker.OneIn(4)) {
    const int64_t size = 1 + maker.Pick(shape[axis]);
    scale.attrs.Set("block_size", size);
    scale.shape = shape;
    scale.shape[axis] = (shape[axis] + size - 1) / size;
  }
  return scale;
}

std::string Rounding(GraphMaker& maker) { return maker.OneIn(2) ? "half_even" : "half_away"; }

}  // namespace

Value* AddConvInteger(GraphMaker& maker, Op op) {
  const int spatial = maker.OneIn(5) ? 1 : 2;
  Value* x = maker.Any(
      [spatial](const Value& v) {
        return IsByte(v) && v.type().rank() == spatial + 2 && v.type().is_static() &&
               v.type().num_elements() > 0;
      },
      [&] {
        Shape shape = {1 + maker.Pick(2), maker.OneIn(3) ? 1 + maker.Pick(4) : maker.Channels()};
        for (int i = 0; i < spatial; ++i) shape.push_back(2 + maker.Pick(12));
        return Integers(maker, maker.OneIn(2) ? DType::kU8 : DType::kI8, shape, 0);
      });
  const Shape shape = x->type().shape();
  const int64_t group = maker.OneIn(4) ? shape[1] : 1;
  const int64_t outputs = group > 1 ? group : maker.Channels();
  const RandomWindow window = DrawWindow(maker, Shape(shape.begin() + 2, shape.end()), false);
  Shape weights = {outputs, shape[1] / group};
  weights.insert(weights.end(), window.kernel.begin(), window.kernel.end());
  Attributes attrs = window.AsAttributes();
  if (group > 1) attrs.Set("group", group);
  const DType type = maker.OneIn(3) ? DType::kU8 : DType::kI8;
  Value* w = Integers(maker, type, weights, maker.OneIn(6) ? 0 : 3);
  return maker.Add(op, {x, w, ZeroPoint(maker, x->type().dtype, 0), ZeroPoint(maker, type, outputs)},
                   std::move(attrs));
}

Value* AddMatMulInteger(GraphMaker& maker, Op op) {
  Value* a = maker.Any(
      [](const Value& v) { return IsByte(v) && v.type().rank() >= 2 && v.type().num_elements() > 0; },
      [&] {
        Shape shape = {maker.Extent(), maker.Channels()};
        if (maker.OneIn(3)) shape.insert(shape.begin(), 1 + maker.Pick(3));
        return Integers(maker, maker.OneIn(2) ? DType::kU8 : DType::kI8, shape, 0);
      });
  const Shape shape = a->type().shape();
  const bool transpose_a = maker.OneIn(6), transpose_b = maker.OneIn(4);
  const int64_t terms = shape[shape.size() - (transpose_a ? 2 : 1)];
  const int64_t rows = shape[shape.size() - (transpose_a ? 1 : 2)], columns = maker.Channels();
  const DType type = maker.OneIn(3) ? DType::kU8 : DType::kI8;
  Value* b = Integers(maker, type, transpose_b ? Shape{columns, terms} : Shape{terms, columns},
                      maker.OneIn(5) ? 0 : 3);
  Attributes attrs;
  if (transpose_a) attrs.Set("transpose_a", int64_t{1});
  if (transpose_b) attrs.Set("transpose_b", int64_t{1});
  return maker.Add(op, {a, b, ZeroPoint(maker, a->type().dtype, rows), ZeroPoint(maker, type, columns)},
                   std::move(attrs));
}

Value* AddQuantize(GraphMaker& maker, Op op) {
  Value* x = maker.AnyFloat();
  Scale scale = DrawScale(maker, x->type().shape(), true);
  const DType to = QuantizedType(maker);
  Value* step = maker.New(maker.OneIn(6) ? x->type().dtype : DType::kF32, scale.shape,
                          {.low = 0.02, .high = 0.1, .step = maker.OneIn(2) ? 0.015625 : 0}, 3);
  scale.attrs.Set("to", to);
  scale.attrs.Set("rounding", Rounding(maker));
  Value* zero = maker.OneIn(3) ? nullptr : Integers(maker, to, scale.shape, 3);
  return maker.Add(op, {x, step, zero}, std::move(scale.attrs));
}

Value* AddDequantize(GraphMaker& maker, Op op) {
  Value* x = maker.Any(
      [](const Value& v) {
        const DType t = v.type().dtype;
        return t == DType::kI8 || t == DType::kU8 || t == DType::kI16 || t == DType::kU16 || t == DType::kI32;
      },
      [&] { return Integers(maker, QuantizedType(maker), maker.AnyShape(), 0); });
  Scale scale = DrawScale(maker, x->type().shape(), true);
  const DType type = maker.OneIn(6) ? maker.FloatType() : DType::kF32;
  Value* step = maker.New(type, scale.shape, {.low = 0.002, .high = 0.03}, 3);
  Value* zero = maker.OneIn(3) ? nullptr : Integers(maker, x->type().dtype, scale.shape, 3);
  return maker.Add(op, {x, step, zero}, std::move(scale.attrs));
}

Value* AddRequantize(GraphMaker& maker, Op op) {
  Value* x = maker.Any([](const Value& v) { return v.type().dtype == DType::kI32; },
                       [&] { return Integers(maker, DType::kI32, maker.AnyShape(), 0); });
  Scale scale = DrawScale(maker, x->type().shape(), false);
  const bool fixed_point = maker.OneIn(3);
  DType to = QuantizedType(maker);
  if (fixed_point && maker.OneIn(5)) to = DType::kI32;
  Value* step =
      maker.New(fixed_point ? DType::kF64 : DType::kF32, scale.shape, {.low = 0.0001, .high = 0.02}, 3);
  scale.attrs.Set("to", to);
  scale.attrs.Set("rounding", fixed_point ? std::string("fixed_point") : Rounding(maker));
  return maker.Add(op, {x, step, maker.OneIn(3) ? nullptr : Integers(maker, to, {}, 3)},
                   std::move(scale.attrs));
}

}  // namespace attune::graph_fuzz
