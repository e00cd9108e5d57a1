#include "quant/equalize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "quant/layers.h"
#include "quant/testing.h"
#include "reference/compare.h"

namespace attune::quant {
namespace {

// Convolutions whose channels differ by orders of magnitude, the second one by channel where it is depthwise.
std::unique_ptr<Graph> Unbalanced(Op activation, bool is_depthwise) {
  TestNetwork n;
  Value* x = n.Input({1, 3, 6, 6});
  Value* first = n.Conv(x, 8, "first");
  Tensor weights = *first->producer()->input(1)->constant();
  Tensor scaled(DType::kF32, weights.shape());
  for (int64_t i = 0; i < weights.num_elements(); ++i)
    scaled.SetDouble(i, weights.ToDouble(i) * std::exp2(static_cast<double>(i / 27) - 4));
  first->producer()->SetInput(1, n.graph().AddConstant(scaled, "", first->producer()));
  const Attributes attributes =
      activation == Op::kClip ? Attributes{{"min", 0.0}, {"max", 6.0}} : Attributes();
  Value* active = n.Add(activation, {first}, attributes);
  Value* second = n.Conv(active, 8, "second", is_depthwise ? 8 : 1);
  n.Output(n.Conv(n.Relu(second), 4, "third"));
  return n.graph().Clone();
}

double Largest(const Tensor& weights, int64_t from, int64_t step, int64_t count, int64_t stride,
               int64_t rows) {
  double largest = 0;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t i = 0; i < count; ++i)
      largest = std::max(largest, std::abs(weights.ToDouble(from + row * stride + i * step)));
  }
  return largest;
}

TEST(Equalize, WhatIsComputedStays) {
  for (bool is_depthwise : {false, true}) {
    const std::unique_ptr<Graph> graph = Unbalanced(Op::kRelu, is_depthwise);
    const Sample sample = RandomSamples(*graph, 1)[0];
    const Sample expected = RunReference(*graph, sample);
    EXPECT_EQ(EqualizeLayers(*graph), 2);
    ASSERT_TRUE(Verify(*graph).ok()) << Verify(*graph);
    const Comparison comparison =
        Compare(expected[0], RunReference(*graph, sample)[0], NetworkTolerance(expected[0]));
    EXPECT_TRUE(comparison.ok()) << comparison.ToString();
  }
}

TEST(Equalize, BothSidesOfAChannelAreAsLarge) {
  const std::unique_ptr<Graph> graph = Unbalanced(Op::kRelu, false);
  EqualizeLayers(*graph, 100);
  const std::vector<Node*> layers = LayersOf(*graph);
  const Tensor& first = *layers[0]->input(1)->constant();
  const Tensor& second = *layers[1]->input(1)->constant();
  for (int64_t c = 0; c < 8; ++c) {
    const double before = Largest(first, c * 27, 1, 27, 0, 1);
    const double after = Largest(second, c * 9, 1, 9, 8 * 9, 8);
    EXPECT_NEAR(before / after, 1, 0.01) << "channel " << c;
  }
}

TEST(Equalize, BoundedActivationsStopIt) {
  const std::unique_ptr<Graph> graph = Unbalanced(Op::kClip, false);
  EXPECT_EQ(EqualizeLayers(*graph), 1);  // the pair behind it
}

}  // namespace
}  // namespace attune::quant
