#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "opt/pass_plan.h"
#include "opt/testing.h"
#include "reference/compare.h"
#include "reference/interpreter.h"

namespace attune {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(SplitProducts, IsOffByDefault) {
  ExpectUnchanged("split_products", R"(graph @g(%x: f32[4,2], %w: f32[2,64]) {
    %y = matmul(%x, %w) : f32[4,64]
    return "": %y
  })");
  PassPlan plan = DefaultPlan();
  EXPECT_FALSE(IsBF16x3(plan));
  EXPECT_TRUE(SetBF16x3(plan).ok());
  EXPECT_TRUE(IsBF16x3(plan));
  plan.steps.clear();
  EXPECT_FALSE(SetBF16x3(plan).ok());
}

// 1.00390625 is 1 + 2^-8, halfway between two bf16: the even one, 1, is its high part.
TEST(SplitProducts, PartsStandSideBySide) {
  ExpectRewrite("split_products bf16x3=1 min_uses=2", R"(graph @g(%x: f32[4,2]) {
    %w = constant() {value = f32[2,2]<1.00390625, 2, inf, -4>} : f32[2,2]
    %y = matmul(%x, %w) : f32[4,2]
    return "y": %y
  })",
                R"(graph @g(%x: f32[4,2]) {
    %w = constant() {value = f32[2,2]<1.00390625, 2, inf, -4>} : f32[2,2]
    %0 = is_inf(%x) : bool[4,2]
    %1 = clip(%x) {max = 3.3895313892515355e+38, min = -3.3895313892515355e+38} : f32[4,2]
    %2 = where(%0, %x, %1) : f32[4,2]
    %3 = cast(%2) {to = bf16} : bf16[4,2]
    %4 = is_inf(%x) : bool[4,2]
    %5 = constant() {value = f32[]<0>} : f32[]
    %6 = where(%4, %5, %x) : f32[4,2]
    %7 = clip(%6) {max = 3.3895313892515355e+38, min = -3.3895313892515355e+38} : f32[4,2]
    %8 = cast(%7) {to = bf16} : bf16[4,2]
    %9 = is_inf(%x) : bool[4,2]
    %10 = constant() {value = f32[]<0>} : f32[]
    %11 = where(%9, %10, %x) : f32[4,2]
    %12 = clip(%11) {max = 3.3895313892515355e+38, min = -3.3895313892515355e+38} : f32[4,2]
    %13 = cast(%12) {to = bf16} : bf16[4,2]
    %14 = cast(%13) {to = f32} : f32[4,2]
    %15 = sub(%11, %14) : f32[4,2]
    %16 = cast(%15) {to = bf16} : bf16[4,2]
    %17 = concat(%3, %8, %16) {axis = 1} : bf16[4,6]
    %18 = constant() {value = bf16[6,2]<1, 2, inf, -4, 0.00390625, 0, 0, 0, 1, 2, 0, -4>} @"w" : bf16[6,2]
    %y = matmul(%17, %18) {to = f32} : f32[4,2]
    return "y": %y
  })");
}

TEST(SplitProducts, KeepsWhatTilesDoNotCompute) {
  for (const char* product : {
           "graph @g(%x: f32[2,8], %w: f32[8,64]) { %y = matmul(%x, %w) : f32[2,64] return \"\": %y }",
           "graph @g(%x: f32[64,7], %w: f32[7,64]) { %y = matmul(%x, %w) : f32[64,64] return \"\": %y }",
           "graph @g(%x: f32[64,8], %w: f32[8,16]) { %y = matmul(%x, %w) : f32[64,16] return \"\": %y }",
           "graph @g(%x: f32[1,64,8,8], %w: f32[64,1,3,3]) { %y = conv(%x, %w) {group = 64} : f32[1,64,6,6] "
           "return \"\": %y }",
           "graph @g(%x: f64[64,8], %w: f64[8,64]) { %y = matmul(%x, %w) : f64[64,64] return \"\": %y }",
       })
    ExpectUnchanged("split_products bf16x3=1", product);
}

std::vector<Tensor> Run(const Graph& graph, const std::vector<Tensor>& inputs) {
  const auto outputs = Interpreter().Run(graph, inputs);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return *outputs;
}

// Runs on the reference interpreter, so that only the split errs: by at most 2^-15 of each product, 512 u.
void ExpectWithinBound(std::string_view text, const std::vector<Tensor>& inputs) {
  const std::unique_ptr<Graph> graph = ParseOrDie(text), split = ParseOrDie(text);
  const auto steps = RunPlan(*split, *ParsePassPlan("split_products bf16x3=1 min_uses=0"));
  ASSERT_TRUE(steps.ok() && steps->front().changed);
  const auto magnitude = EvaluateMagnitude(*graph->nodes().back(), inputs);
  ASSERT_TRUE(magnitude.ok()) << magnitude.status();
  const Comparison comparison =
      Compare(Run(*graph, inputs)[0], Run(*split, inputs)[0], ContractionBound{*magnitude, 512, 0x1p-24});
  EXPECT_TRUE(comparison.ok()) << comparison.ToString();
}

constexpr std::string_view kProduct =
    "graph @g(%x: f32[5,64], %w: f32[64,3]) { %y = matmul(%x, %w) : f32[5,3] return \"\": %y }";

Tensor RandomTensor(const Shape& shape, uint64_t seed) {
  Random random(seed);
  Tensor tensor(DType::kF32, shape);
  for (int64_t i = 0; i < tensor.num_elements(); ++i) tensor.SetDouble(i, 2 * random.Uniform() - 1);
  return tensor;
}

TEST(SplitProducts, ErrsByItsBound) {
  ExpectWithinBound(kProduct, {RandomTensor({5, 64}, 1), RandomTensor({64, 3}, 2)});
  ExpectWithinBound(
      "graph @g(%x: f32[2,5,6,7], %w: f32[3,5,3,2], %b: f32[3]) { %y = conv(%x, %w, %b) "
      "{pads = [1, 0, 0, 1], strides = [2, 1]} : f32[2,3,3,7] return \"\": %y }",
      {RandomTensor({2, 5, 6, 7}, 1), RandomTensor({3, 5, 3, 2}, 2), RandomTensor({3}, 3)});
  // Terms that cancel up to a 10000th.
  Tensor x = RandomTensor({5, 64}, 4), w = RandomTensor({64, 3}, 5);
  for (int64_t i = 0; i < x.num_elements(); i += 2) x.SetDouble(i + 1, -1.0001 * x.ToDouble(i));
  for (int64_t i = 0; i < w.num_elements(); ++i) w.SetDouble(i, w.ToDouble(i / 6 * 6 + i % 3));
  ExpectWithinBound(kProduct, {x, w});
}

// Infinities of either operand, NaN, numbers that bf16 would round to infinity, and small numbers.
TEST(SplitProducts, KeepsSpecialValues) {
  const float largest = std::numeric_limits<float>::max();
  const float specials[] = {kInf, -kInf, NAN, largest, -largest, 3.395e38f, 1e-30f, 0.f};
  for (const float special : specials) {
    Tensor x = RandomTensor({5, 64}, 1), w = RandomTensor({64, 3}, 2);
    w.SetDouble(3, 0.5), w.SetDouble(4, 0.001), w.SetDouble(5, -0.37);
    x.SetDouble(1, special);  // row 0, times 0.5, 0.001 and -0.37
    ExpectWithinBound(kProduct, {x, w});
    Tensor y = RandomTensor({5, 64}, 1);
    w.SetDouble(3, special);
    for (int64_t row = 0; row < 5; ++row) y.SetDouble(row * 64 + 1, 0.25);
    ExpectWithinBound(kProduct, {y, w});
  }
}

}  // namespace
}  // namespace attune
