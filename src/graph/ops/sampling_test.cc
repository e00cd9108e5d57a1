#include "graph/ops/infer_case.h"

namespace attune::infer {
namespace {

Attributes ResizeAttributes(Ints sizes, Floats scales) { return {{"sizes", sizes}, {"scales", scales}}; }

InferCase ResizeCase(std::string x, std::string name, Attribute value, std::string expected) {
  InferCase result = {"resize", {std::move(x)}, ResizeAttributes({6}, {2.0}), std::move(expected)};
  result.attrs.Set(std::move(name), std::move(value));
  return result;
}

TEST(InferSampling, Resize) {
  CheckCase(
      {"resize", {"f32[n<=1,3,4,4]"}, ResizeAttributes({1, 3, 8, 2}, {1, 1, 2, 0.5}), "f32[n<=1,3,8,2]"});
  CheckCase({"resize", {"bool[3]"}, ResizeAttributes({6}, {2}), "bool[6]"});
  CheckCase({"resize", {"f32[3,3]"}, ResizeAttributes({6}, {2, 2}), "invalid: sizes has 1 values, needs 2"});
  CheckCase({"resize", {"f32[3]"}, ResizeAttributes({6}, {2, 2}), "invalid: scales has 2 values, needs 1"});
  CheckCase({"resize", {"f32[3]"}, ResizeAttributes({6}, {0}), "invalid: cannot scale by 0"});
  CheckCase({"resize", {"f32[3]"}, ResizeAttributes({-6}, {2}), "invalid: sizes has the value -6"});
  CheckCase({"resize",
             {"f32[0]"},
             ResizeAttributes({6}, {2}),
             "invalid: nothing to sample along axis 0 of f32[0]"});
  CheckCase({"resize",
             {"f32[n<=3]"},
             ResizeAttributes({6}, {2}),
             "not supported: cannot resize the dynamic dimension 0"});
}

TEST(InferSampling, ResizeModes) {
  CheckCase(ResizeCase("u8[3]", "mode", "linear", "u8[6]"));
  CheckCase(ResizeCase("bool[3]", "mode", "cubic", "invalid: the input is bool[3]"));
  CheckCase(ResizeCase("f32[3]", "mode", "area", "invalid: mode is 'area', must be nearest, linear, cubic"));
  CheckCase(ResizeCase("f32[3]", "coordinate_mode", "align", "invalid: coordinate_mode is 'align'"));
  CheckCase(ResizeCase("f32[3]", "nearest_mode", "round", "invalid: nearest_mode is 'round'"));
  CheckCase(ResizeCase("f32[3]", "antialias", 2, "invalid: antialias is 2"));
  CheckCase(
      ResizeCase("f32[3]", "coordinate_mode", "tf_crop_and_resize", "invalid: roi has 0 values, needs 2"));
  InferCase crop = ResizeCase("f32[3]", "coordinate_mode", "tf_crop_and_resize", "f32[6]");
  crop.attrs.Set("roi", Floats{0.25, 0.75});
  CheckCase(crop);
}

TEST(InferSampling, GridSample) {
  CheckCase({"grid_sample", {"f32[n<=2,3,4,5]", "f32[n<=2,6,7,2]"}, {}, "f32[n<=2,3,6,7]"});
  CheckCase({"grid_sample",
             {"f32[1,3,4,5,6]", "f32[1,7,8,9,3]"},
             {{"mode", "nearest"}, {"padding_mode", "border"}},
             "f32[1,3,7,8,9]"});
  CheckCase(
      {"grid_sample",
       {"f32[2,3,4,5]", "f32[1,6,7,2]"},
       {},
       "invalid: the grid f32[1,6,7,2] does not hold 2 coordinates a point for each batch of f32[2,3,4,5]"});
  CheckCase({"grid_sample",
             {"f32[1,3,4,5]", "f32[1,6,7,3]"},
             {},
             "invalid: the grid f32[1,6,7,3] does not hold 2"});
  CheckCase({"grid_sample",
             {"f32[1,3,4,5]", "f32[1,6,2]"},
             {},
             "invalid: the grid is f32[1,6,2], must have 4 dimensions"});
  CheckCase({"grid_sample",
             {"f32[1,3,4,5,6]", "f32[1,7,8,9,3]"},
             {{"mode", "cubic"}},
             "invalid: the input of cubic sampling"});
  CheckCase({"grid_sample",
             {"f32[1,3,4,5]", "f32[1,6,7,2]"},
             {{"padding_mode", "wrap"}},
             "invalid: padding_mode is 'wrap'"});
}

Attributes RoiAttributes(int64_t height, int64_t width) { return {{"height", height}, {"width", width}}; }

TEST(InferSampling, RoiAlign) {
  CheckCase({"roi_align", {"f32[2,3,8,8]", "f32[5,4]", "i64[5]"}, RoiAttributes(7, 6), "f32[5,3,7,6]"});
  CheckCase(
      {"roi_align", {"f32[2,3,8,8]", "f32[r<=5,4]", "i32[r<=5]"}, RoiAttributes(1, 1), "f32[r<=5,3,1,1]"});
  CheckCase({"roi_align",
             {"f32[2,3,8,8]", "f32[5,4]", "i64[4]"},
             RoiAttributes(7, 6),
             "invalid: the batch indices tensor is i64[4], must have the shape [5]"});
  CheckCase({"roi_align",
             {"f32[2,3,8,8]", "f32[5,5]", "i64[5]"},
             RoiAttributes(7, 6),
             "invalid: the regions tensor is f32[5,5], must have the shape [5,4]"});
  CheckCase({"roi_align",
             {"f32[2,3,8,8]", "f32[5,4]", "f32[5]"},
             RoiAttributes(7, 6),
             "invalid: the batch indices tensor is f32[5], must be i32 or i64"});
  CheckCase(
      {"roi_align", {"f32[2,3,8,8]", "f32[5,4]", "i64[5]"}, RoiAttributes(0, 6), "invalid: height is 0"});
  CheckCase({"roi_align",
             {"f32[n<=2,3,8,8]", "f32[5,4]", "i64[5]"},
             RoiAttributes(1, 1),
             "not supported: cannot align regions in the dynamic dimension 0"});
}

}  // namespace
}  // namespace attune::infer
