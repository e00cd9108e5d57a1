#include <gtest/gtest.h>

#include "lower/kernel_under_test.h"

namespace attune {
namespace {

OperatorCase Resize(const char* input, Ints sizes, Floats scales, Attributes attrs) {
  attrs.Set("sizes", std::move(sizes));
  attrs.Set("scales", std::move(scales));
  return {Op::kResize, {input}, std::move(attrs)};
}

Attributes Modes(const char* mode, const char* coordinates) {
  return {{"mode", std::string(mode)}, {"coordinate_mode", std::string(coordinates)}};
}

TEST(LowerResize, EveryCoordinateMode) {
  std::vector<OperatorCase> cases;
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* coordinates : {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                                    "align_corners", "asymmetric", "tf_half_pixel_for_nn"}) {
      cases.push_back(Resize("f32[1,3,5,7]", {1, 3, 8, 9}, {1, 1, 1.6, 9.0 / 7}, Modes(mode, coordinates)));
    }
  }
  ExpectKernelsMatch(cases);
}

TEST(LowerResize, EveryRounding) {
  std::vector<OperatorCase> cases;
  for (const char* rounding : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}) {
    Attributes attrs = Modes("nearest", "asymmetric");
    attrs.Set("nearest_mode", std::string(rounding));
    cases.push_back(Resize("f32[1,5,4,4]", {1, 5, 6, 3}, {1, 1, 1.5, 0.75}, attrs));
    cases.push_back(Resize("f32[1,5,4,12]", {1, 5, 4, 28}, {1, 1, 1, 28.0 / 12}, attrs));
    cases.push_back(Resize("u8[1,2,4,4]", {1, 2, 8, 8}, {1, 1, 2, 2}, attrs));
  }
  ExpectKernelsMatch(cases);
}

TEST(LowerResize, LayoutsAndOptions) {
  Attributes antialias = Modes("linear", "half_pixel"), outside = Modes("cubic", "half_pixel"),
             crop = Modes("linear", "tf_crop_and_resize");
  antialias.Set("antialias", int64_t{1});
  outside.Set("exclude_outside", int64_t{1});
  crop.Set("roi", Floats{0, 0, 0.2, -0.3, 1, 1, 0.7, 1.4});
  crop.Set("extrapolation_value", 9.0);
  Attributes crop_nearest = crop;
  crop_nearest.Set("mode", std::string("nearest"));
  ExpectKernelsMatch(
      InEachLayout({Resize("f32[1,20,4,5]", {1, 20, 8, 10}, {1, 1, 2, 2}, Modes("linear", "half_pixel")),
                    Resize("f32[1,20,4,5]", {1, 20, 8, 10}, {1, 1, 2, 2}, Modes("nearest", "asymmetric")),
                    Resize("f32[1,3,9,11]", {1, 3, 4, 5}, {1, 1, 4 / 9.0, 5 / 11.0}, antialias)}));
  ExpectKernelsMatch({Resize("f32[1,2,5,6]", {1, 2, 9, 9}, {1, 1, 9 / 5.0, 1.5}, outside),
                      Resize("f32[1,2,5,6]", {1, 2, 4, 5}, {1, 1, 0.8, 5 / 6.0}, crop),
                      Resize("f32[1,2,5,6]", {1, 2, 4, 5}, {1, 1, 0.8, 5 / 6.0}, crop_nearest),
                      Resize("u8[4,6]", {7, 9}, {1.75, 1.5}, Modes("linear", "half_pixel")),
                      Resize("f16[4,6]", {7, 9}, {1.75, 1.5}, Modes("cubic", "half_pixel")),
                      Resize("f32[3,4]", {3, 4}, {1, 1}, Modes("linear", "half_pixel"))});
}

TEST(LowerGridSample, EveryMode) {
  std::vector<OperatorCase> cases;
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    for (const char* padding : {"zeros", "border", "reflection"}) {
      for (int64_t align : {0, 1}) {
        cases.push_back({Op::kGridSample,
                         {"f32[2,3,5,6]", "f32[2,4,3,2]"},
                         {{"mode", std::string(mode)},
                          {"padding_mode", std::string(padding)},
                          {"align_corners", align}}});
      }
    }
  }
  cases.push_back({Op::kGridSample, {"f32[1,2,3,4,5]", "f32[1,2,2,2,3]"}, {}});
  cases.push_back({Op::kGridSample, {"f32[1,1,4,4]", "f32[1,1,2,2] nan 0 inf -inf"}, {}});
  ExpectKernelsMatch(cases);
}

TEST(LowerRoiAlign, EveryMode) {
  std::vector<OperatorCase> cases;
  for (const char* mode : {"avg", "max"}) {
    for (const char* coordinates : {"half_pixel", "output_half_pixel"}) {
      for (int64_t ratio : {0, 2}) {
        cases.push_back({Op::kRoiAlign,
                         {"f32[2,5,8,9]", "f32[3,4] 1 2 14 11 0 0 3 3 -4 5 30 6", "i64[3] 1 0 1"},
                         {{"mode", std::string(mode)},
                          {"coordinate_mode", std::string(coordinates)},
                          {"height", int64_t{2}},
                          {"width", int64_t{3}},
                          {"sampling_ratio", ratio},
                          {"spatial_scale", 0.5}}});
      }
    }
  }
  ExpectKernelsMatch(cases);
}

TEST(LowerDeformConv, WithGroupsAndMask) {
  ExpectKernelsMatch(
      {{Op::kDeformConv, {"f32[1,3,5,6]", "f32[1,18,5,6]", "f32[4,3,3,3]"}, {{"pads", Ints{1, 1, 1, 1}}}},
       {Op::kDeformConv,
        {"f32[2,4,5,5]", "f32[2,16,2,2]", "f32[6,2,2,2]", "f32[6]", "f32[2,8,2,2]"},
        {{"strides", Ints{2, 2}}, {"group", int64_t{2}}, {"offset_group", int64_t{2}}}}});
}

}  // namespace
}  // namespace attune
