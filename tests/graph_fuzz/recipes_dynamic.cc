#include "recipes.h"

namespace attune::graph_fuzz {

Value* AddNonZero(GraphMaker& maker, Op op) {
  Value* x = maker.Any(
      [](const Value& v) {
        return v.type().is_static() && v.type().rank() >= 1 && v.type().num_elements() < 2048 &&
               v.type().dtype == DType::kBool;
      },
      [&] {
        return maker.New(maker.OneOf({DType::kBool, DType::kI32, DType::kF32, DType::kU8}),
                         {1 + maker.Pick(5), 1 + maker.Pick(20)}, {.low = -1, .high = 1, .step = 1}, 0);
      });
  return maker.Add(op, {x});
}

Value* AddNonMaxSuppression(GraphMaker& maker, Op op) {
  const int64_t batches = 1 + maker.Pick(2), boxes = 1 + maker.Pick(30), classes = 1 + maker.Pick(3);
  const bool by_center = maker.OneIn(2);
  Tensor corners(DType::kF32, {batches, boxes, 4});
  for (int64_t i = 0; i < batches * boxes; ++i) {
    for (int64_t d = 0; d < 2; ++d) {
      // Multiples of a power of two: areas and their ratios do not round.
      const double start = 0.25 * static_cast<double>(maker.Pick(24));
      const double size = 0.25 * static_cast<double>(4 + maker.Pick(16));
      corners.SetDouble(4 * i + d, start);
      corners.SetDouble(4 * i + d + 2, by_center ? size : start + size);
    }
  }
  Attributes attrs = {{"max_per_class", 1 + maker.Pick(boxes)},
                      {"iou_threshold", maker.OneOf({0.3, 0.5, 0.7})},
                      {"center_point_box", int64_t{by_center}}};
  if (maker.OneIn(2)) attrs.Set("score_threshold", maker.OneOf({-0.51, 0.26}));
  Value* scores =
      maker.New(DType::kF32, {batches, classes, boxes}, {.low = -1, .high = 1, .step = 0.0625}, 0);
  return maker.Add(op, {maker.Constant(std::move(corners)), scores}, std::move(attrs));
}

Value* AddCompress(GraphMaker& maker, Op op) {
  Value* x = maker.Any(
      [](const Value& v) {
        return v.type().is_static() && v.type().rank() >= 1 && v.type().num_elements() > 0;
      },
      [&] { return maker.New(maker.AnyType(), {1 + maker.Pick(9), 1 + maker.Pick(9)}, 0); });
  const int64_t axis = maker.Pick(x->type().rank());
  const int64_t size = x->type().shape()[static_cast<size_t>(axis)];
  const TensorType mask(DType::kBool, Shape{maker.OneIn(3) ? 1 + maker.Pick(size) : size});
  return maker.Add(op, {x, maker.Like(mask)}, {{"axis", axis}});
}

Value* AddUnique(GraphMaker& maker, Op op) {
  Value* x = maker.Any(
      [](const Value& v) {
        return v.type().is_static() && v.type().rank() == 1 && v.type().num_elements() > 0 &&
               IsInt(v.type().dtype);
      },
      [&] {
        return maker.New(maker.OneOf({DType::kI64, DType::kI32, DType::kF32, DType::kI8, DType::kU8}),
                         {1 + maker.Pick(40)}, {.low = -4, .high = 6, .step = 1}, 0);
      });
  return maker.Add(op, {x}, {{"sorted", maker.Pick(2)}});
}

}  // namespace attune::graph_fuzz
