#include <cmath>

#include "reference/evaluate_for_test.h"

namespace attune::reference {
namespace {

// The row [1, 2, 3, 4] resized to `size` elements.
Tensor ResizeRow(int64_t size, Attributes attrs) {
  attrs.Set("sizes", Ints{1, size});
  if (!attrs.Has("scales")) attrs.Set("scales", Floats{1, static_cast<double>(size) / 4});
  return Evaluate(Op::kResize, {F32({1, 4}, {1, 2, 3, 4})}, attrs);
}

TEST(Resize, NearestRoundsAsNamed) {
  const auto nearest = [](const char* rounding) {
    return ResizeRow(8, {{"nearest_mode", rounding}, {"coordinate_mode", "asymmetric"}});
  };
  EXPECT_THAT(nearest("floor"), Has({1, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_THAT(nearest("ceil"), Has({1, 2, 2, 3, 3, 4, 4, 4}));
  EXPECT_THAT(nearest("round_prefer_floor"), Has({1, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_THAT(nearest("round_prefer_ceil"), Has({1, 2, 2, 3, 3, 4, 4, 4}));
}

// (17 + 1/2) 12/28 - 1/2 is exactly 7, but (17 + 1/2) / (28/12) is less than 7 1/2 in any floating-point
// format.
TEST(Resize, CoordinatesAreRoundedOnce) {
  const Tensor resized =
      Evaluate(Op::kResize, {Iota({12})},
               {{"nearest_mode", "floor"}, {"sizes", Ints{28}}, {"scales", Floats{28.0 / 12}}});
  EXPECT_EQ(resized.ToDouble(17), 7);
  EXPECT_EQ(resized.ToDouble(16), 6);
}

TEST(Resize, CoordinateModes) {
  const auto linear = [](int64_t size, const char* coordinates) {
    return ResizeRow(size, {{"mode", "linear"}, {"coordinate_mode", coordinates}});
  };
  EXPECT_THAT(linear(8, "half_pixel"), Has({1, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4}));
  EXPECT_THAT(linear(7, "align_corners"), Has({1, 1.5, 2, 2.5, 3, 3.5, 4}));
  EXPECT_THAT(linear(8, "asymmetric"), Has({1, 1.5, 2, 2.5, 3, 3.5, 4, 4}));
  EXPECT_THAT(linear(1, "pytorch_half_pixel"), Has({1}));
  EXPECT_THAT(linear(1, "half_pixel"), Has({2.5}));
  EXPECT_THAT(linear(2, "tf_half_pixel_for_nn"), Has({2, 4}));
  // Rounding 4 · 0.625 down to 2 loses half a pixel: the centres stay aligned.
  EXPECT_THAT(
      ResizeRow(
          2, {{"mode", "linear"}, {"coordinate_mode", "half_pixel_symmetric"}, {"scales", Floats{1, 0.625}}}),
      Has({1.7, 3.3}, 1e-6));
}

// The f32 next to 0.7 times 10 is 7 in f32, and a little less exactly; the last corner is where 7 says.
TEST(Resize, LengthsAreProductsInF32) {
  const Tensor resized = Evaluate(Op::kResize, {Iota({10})},
                                  {{"mode", "nearest"},
                                   {"nearest_mode", "ceil"},
                                   {"coordinate_mode", "align_corners"},
                                   {"sizes", Ints{7}},
                                   {"scales", Floats{0.7F}}});
  EXPECT_THAT(resized, Has({0, 2, 3, 5, 6, 8, 9}));
}

// ONNX: 0 if the output has one element. Cubic sampling shows it.
TEST(Resize, OneElementIsTheFirst) {
  const auto one = [](double scale) {
    return ResizeRow(
        1, {{"mode", "cubic"}, {"coordinate_mode", "pytorch_half_pixel"}, {"scales", Floats{1, scale}}});
  };
  EXPECT_THAT(one(0.25), Has({1}));
  EXPECT_THAT(one(0.375), Has({1}));
}

TEST(Resize, CropAndResizeExtrapolates) {
  const Attributes attrs = {{"mode", "linear"},
                            {"coordinate_mode", "tf_crop_and_resize"},
                            {"roi", Floats{0, 0.5, 1, 1.5}},
                            {"extrapolation_value", 9.0}};
  EXPECT_THAT(ResizeRow(3, attrs), Has({2.5, 4, 9}));
}

TEST(Resize, CubicAndAntialias) {
  // Keys' kernel with a = -0.75, at a quarter after the second of four elements.
  EXPECT_THAT(ResizeRow(8, {{"mode", "cubic"}}),
              ::testing::ResultOf([](const Tensor& t) { return t.ToDouble(3); },
                                  ::testing::DoubleNear(2.296875, 1e-6)));
  EXPECT_THAT(ResizeRow(2, {{"mode", "linear"}, {"antialias", int64_t{1}}}), Has({1.625, 3.375}));
  // Without the elements outside, the ends of the row have more weight.
  EXPECT_THAT(ResizeRow(8, {{"mode", "linear"}, {"exclude_outside", int64_t{1}}}),
              Has({1, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4}));
}

TEST(Resize, IntegersRound) {
  EXPECT_THAT(Evaluate(Op::kResize, {Make(DType::kU8, {2}, {0, 255})},
                       {{"sizes", Ints{4}}, {"scales", Floats{2}}, {"mode", "linear"}}),
              Has({0, 64, 191, 255}));
}

// Samples an image of two rows, 0 … 5, at the point (x, y), in -1 to 1.
Tensor SampleAt(double x, double y, Attributes attrs) {
  return Evaluate(Op::kGridSample, {Iota({1, 1, 2, 3}), F32({1, 1, 1, 2}, {x, y})}, attrs);
}

TEST(GridSample, ModesAndPadding) {
  const Attributes corners = {{"align_corners", int64_t{1}}};
  EXPECT_THAT(SampleAt(-1, 1, corners), Has({3}));
  EXPECT_THAT(SampleAt(0.5, 0, corners), Has({3}));
  EXPECT_THAT(SampleAt(-1, -1, {}), Has({0}));
  EXPECT_THAT(SampleAt(1, 1, {}), Has({1.25}));  // a quarter of the corner 5; the rest is outside
  EXPECT_THAT(SampleAt(1, 1, {{"padding_mode", "border"}}), Has({5}));
  EXPECT_THAT(SampleAt(2, 1, {{"padding_mode", "reflection"}, {"mode", "nearest"}}), Has({4}));
  EXPECT_THAT(SampleAt(0.1, -0.9, {{"mode", "nearest"}}), Has({1}));
  EXPECT_THAT(SampleAt(7, 7, {}), Has({0}));
  EXPECT_THAT(SampleAt(NAN, INFINITY, {}), Has({0}));
  EXPECT_THAT(SampleAt(0, 0, {{"mode", "cubic"}, {"padding_mode", "border"}}), Has({2.5}));
}

// Each of the four elements is moved inside separately, and the weights follow from the position outside:
// at -0.25 the elements are -2, -1, 0 and 1, of which three become the first. Numbers from PyTorch and
// onnxruntime.
TEST(GridSample, CubicReachesOverTheBorder) {
  const auto at = [](double x, const char* padding) {
    return SampleAt(x, -0.5, {{"mode", "cubic"}, {"padding_mode", padding}}).ToDouble(0);
  };
  EXPECT_NEAR(at(-5.0 / 6, "border"), -0.10546875, 1e-6);
  EXPECT_NEAR(at(-5.0 / 6, "reflection"), -0.140625, 1e-6);
}

TEST(GridSample, ThreeAxes) {
  EXPECT_THAT(Evaluate(Op::kGridSample, {Iota({1, 1, 2, 2, 2}), F32({1, 1, 1, 1, 3}, {1, -1, 0})},
                       {{"align_corners", int64_t{1}}}),
              Has({3}));
}

TEST(RoiAlign, AveragesAndMaxima) {
  const Tensor x = Iota({1, 1, 4, 4});
  const Tensor roi = F32({1, 4}, {0, 0, 4, 4});
  const Tensor batch = I64({1}, {0});
  Attributes attrs = {{"height", int64_t{2}}, {"width", int64_t{2}}, {"sampling_ratio", int64_t{2}}};
  // Each bin covers 2 by 2 pixels, sampled at their centres.
  EXPECT_THAT(Evaluate(Op::kRoiAlign, {x, roi, batch}, attrs), Has({2.5, 4.5, 10.5, 12.5}));
  attrs.Set("mode", "max");
  EXPECT_THAT(Evaluate(Op::kRoiAlign, {x, roi, batch}, attrs), Has({5, 7, 13, 15}));
  attrs.Set("coordinate_mode", "output_half_pixel");
  attrs.Set("mode", "avg");
  // Shifted by half a pixel; the last samples are at the edge.
  EXPECT_THAT(Evaluate(Op::kRoiAlign, {x, roi, batch}, attrs), Has({5, 6.75, 12, 13.75}));
  EXPECT_FALSE(EvaluateStatus(Op::kRoiAlign, {x, roi, I64({1}, {1})}, attrs).ok());
  EXPECT_FALSE(EvaluateStatus(Op::kRoiAlign, {x, F32({1, 4}, {0, 0, 1e30, 1e30}), batch},
                              {{"height", int64_t{1}}, {"width", int64_t{1}}})
                   .ok());
}

}  // namespace
}  // namespace attune::reference
