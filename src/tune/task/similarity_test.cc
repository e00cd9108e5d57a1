#include "tune/task/similarity.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tune/task/tasks_for_test.h"

namespace attune {
namespace {

// A depth-first fusion: expand the channels, depthwise convolution, reduce the channels.
constexpr char kChainTask[] =
    R"(graph @chain(%x: f32[1,16,28,28]{c1/16}, %w: f32[96,16,1,1], %d: f32[96,1,3,3], %p: f32[32,96,1,1]) {
  %e = conv(%x, %w) : f32[1,96,28,28]{c1/16}
  %f = relu(%e) : f32[1,96,28,28]{c1/16}
  %g = conv(%f, %d) {group = 96, pads = [1, 1, 1, 1]} : f32[1,96,28,28]{c1/16}
  %h = relu(%g) : f32[1,96,28,28]{c1/16}
  %y = conv(%h, %p) : f32[1,32,28,28]{c1/16}
  return "": %y
})";
// The same with a larger feature map, and without the last operator.
constexpr char kShorterChainTask[] =
    R"(graph @chain(%x: f32[1,16,56,28]{c1/16}, %w: f32[96,16,1,1], %d: f32[96,1,3,3]) {
  %e = conv(%x, %w) : f32[1,96,56,28]{c1/16}
  %f = relu(%e) : f32[1,96,56,28]{c1/16}
  %g = conv(%f, %d) {group = 96, pads = [1, 1, 1, 1]} : f32[1,96,56,28]{c1/16}
  %y = relu(%g) : f32[1,96,56,28]{c1/16}
  return "": %y
})";
// Only its first operator.
constexpr char kFirstLinkTask[] =
    R"(graph @conv(%x: f32[1,16,28,28]{c1/16}, %w: f32[96,16,1,1]) {
  %e = conv(%x, %w) : f32[1,96,28,28]{c1/16}
  %y = relu(%e) : f32[1,96,28,28]{c1/16}
  return "": %y
})";

double Distance(const std::string& a, const std::string& b) {
  const auto shape_a = ShapeOfTask(MakeTask(a).text), shape_b = ShapeOfTask(MakeTask(b).text);
  EXPECT_TRUE(shape_a.ok()) << shape_a.status();
  EXPECT_TRUE(shape_b.ok()) << shape_b.status();
  return shape_a.ok() && shape_b.ok() ? TaskDistance(*shape_a, *shape_b) : std::nan("");
}

TEST(SimilarityTest, ATaskIsLikeItself) {
  for (const char* task : {kConvTask, kMatMulTask, kSoftmaxTask, kChainTask})
    EXPECT_EQ(Distance(task, task), 0);
}

TEST(SimilarityTest, ASizeTwiceAsLargeIsOneAway) {
  // Height and width differ, in the input and in the output.
  EXPECT_DOUBLE_EQ(Distance(kConvTask, kWideConvTask), 4);
}

TEST(SimilarityTest, ChainsAreAlikeHoweverTheyGoOn) {
  EXPECT_DOUBLE_EQ(Distance(kChainTask, kShorterChainTask), 2 + 0.25);
}

TEST(SimilarityTest, OtherComputationsAreNotAlike) {
  EXPECT_TRUE(std::isinf(Distance(kConvTask, kMatMulTask)));
  EXPECT_TRUE(std::isinf(Distance(kChainTask, kFirstLinkTask)));
}

TEST(SimilarityTest, WhatIsElementwiseTeachesNothing) {
  EXPECT_TRUE(std::isinf(Distance(kReluTask, kReluTask)));
}

}  // namespace
}  // namespace attune
