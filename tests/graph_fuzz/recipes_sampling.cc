#include "recipes.h"

namespace attune::graph_fuzz {

Value* AddResize(GraphMaker& maker, Op op) {
  Value* x = maker.FeatureMap(maker.OneIn(6) ? 1 : 2);
  const Shape shape = x->type().shape();
  Ints sizes = shape;
  Floats scales(shape.size(), 1);
  const double usual = maker.OneOf({2.0, 2.0, 4.0, 0.5, 1.5, 3.0, 0.7});
  for (size_t i = 2; i < shape.size(); ++i) {
    const double scale = maker.OneIn(4) ? 0.3 + 3 * maker.random().Uniform() : usual;
    sizes[i] = std::max<int64_t>(1, static_cast<int64_t>(static_cast<double>(shape[i]) * scale));
    // Models state either the scale itself or the ratio of the sizes.
    scales[i] = maker.OneIn(3) ? scale : static_cast<double>(sizes[i]) / static_cast<double>(shape[i]);
  }
  Attributes attrs = {{"sizes", sizes}, {"scales", scales}};
  const auto mode = maker.OneOf<const char*>({"nearest", "nearest", "linear", "linear", "cubic"});
  attrs.Set("mode", std::string(mode));
  attrs.Set("coordinate_mode",
            std::string(maker.OneOf<const char*>({"half_pixel", "half_pixel", "half_pixel_symmetric",
                                                  "pytorch_half_pixel", "align_corners", "asymmetric",
                                                  "tf_half_pixel_for_nn", "tf_crop_and_resize"})));
  attrs.Set(
      "nearest_mode",
      std::string(maker.OneOf<const char*>({"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})));
  if (attrs.String("coordinate_mode") == "tf_crop_and_resize") {
    Floats roi(2 * shape.size(), 0);
    for (size_t i = 0; i < shape.size(); ++i) {
      roi[i] = i < 2 ? 0 : 0.3 * maker.random().Uniform();
      roi[i + shape.size()] = i < 2 ? 1 : 0.7 + 0.5 * maker.random().Uniform();
    }
    attrs.Set("roi", roi);
    attrs.Set("extrapolation_value", maker.OneOf({0.0, -2.5}));
  }
  if (std::string_view(mode) == "cubic") {
    attrs.Set("cubic_coeff", maker.OneOf({-0.75, -0.5}));
    attrs.Set("exclude_outside", maker.Pick(2));
  }
  if (std::string_view(mode) != "nearest") attrs.Set("antialias", maker.OneIn(4) ? int64_t{1} : int64_t{0});
  return maker.Add(op, {x}, std::move(attrs));
}

Value* AddGridSample(GraphMaker& maker, Op op) {
  const int spatial = maker.OneIn(5) ? 3 : 2;
  Value* x = maker.FeatureMap(spatial);
  Shape grid = {x->type().shape()[0]};
  for (int i = 0; i < spatial; ++i) grid.push_back(1 + maker.Pick(6));
  grid.push_back(spatial);
  const auto mode = maker.OneOf<const char*>({"linear", "nearest", "cubic"});
  const double reach = maker.OneIn(3) ? 2.5 : 1.1;
  Value* points = maker.New(x->type().dtype, grid, {.low = -reach, .high = reach}, 0);
  return maker.Add(
      op, {x, points},
      {{"mode", std::string(mode)},
       {"padding_mode", std::string(maker.OneOf<const char*>({"zeros", "border", "reflection"}))},
       {"align_corners", maker.Pick(2)}});
}

Value* AddRoiAlign(GraphMaker& maker, Op op) {
  Value* x = maker.FeatureMap();
  const Shape shape = x->type().shape();
  const int64_t count = 1 + maker.Pick(4);
  const double scale = maker.OneOf({1.0, 0.5, 0.25});
  Tensor regions(x->type().dtype, {count, 4});
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t d = 0; d < 2; ++d) {  // x, then y
      const double size = static_cast<double>(shape[static_cast<size_t>(3 - d)]) / scale;
      const double start = size * 0.6 * maker.random().Uniform() - 1;
      regions.SetDouble(4 * i + d, start);
      regions.SetDouble(4 * i + d + 2, start + 1 + size * 0.5 * maker.random().Uniform());
    }
  }
  Value* batches = maker.Indices({count}, shape[0], false);
  return maker.Add(
      op, {x, maker.Constant(std::move(regions)), batches},
      {{"mode", std::string(maker.OneOf<const char*>({"avg", "avg", "max"}))},
       {"coordinate_mode", std::string(maker.OneOf<const char*>({"half_pixel", "output_half_pixel"}))},
       {"height", 1 + maker.Pick(5)},
       {"width", 1 + maker.Pick(5)},
       {"sampling_ratio", maker.Pick(4)},
       {"spatial_scale", scale}});
}

}  // namespace attune::graph_fuzz
