#include "quant/equalize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "quant/layers.h"
#include "quant/testing.h"
#include "reference/compare.h"

namespace attune::quant {
namespace {

// Convolutions whose channels differ by orders of magnitude; if `is_depthwise`, the second is depthwise.
std::unique_ptr<Graph> Unbalanced(Op activation, bool is_depthwise) {
  TestNetwork n;
  Value* x = n.Input({1, 3, 6, 6});
  Value* first = n.Conv(x, 8, "first");
  Tensor weights = *first->producer()->input(1)->constant();
  Tensor scaled(DType::kF32, weights.shape());
  for (int64_t i = 0; i < weights.num_elements(); ++i) {
    const int64_t channel = i / 27;
    scaled.SetDouble(i, weights.ToDouble(i) * std::exp2(static_cast<double>(channel) - 4));
  }
  first->producer()->SetInput(1, n.graph().AddConstant(scaled, "", first->producer()));
  const Attributes attributes = activation == Op::kClip
                                    ? Attributes{{"min", ExactNumber(0.0)}, {"max", ExactNumber(6.0)}}
                                    : Attributes();
  Value* active = n.Add(activation, {first}, attributes);
  Value* second = n.Conv(active, 8, "second", is_depthwise ? 8 : 1);
  n.Output(n.Conv(n.Relu(second), 4, "third"));
  return n.graph().Clone();
}

int EqualizeOrFail(Graph& graph, int samples = 8) {
  const absl::StatusOr<int> pairs = EqualizeLayers(graph, RandomSamples(graph, samples), Interpreter());
  EXPECT_TRUE(pairs.ok()) << pairs.status();
  EXPECT_TRUE(Verify(graph).ok()) << Verify(graph);
  return pairs.value_or(-1);
}

TEST(Equalize, WhatIsComputedStays) {
  for (const Op activation : {Op::kRelu, Op::kClip}) {
    for (const bool is_depthwise : {false, true}) {
      const std::unique_ptr<Graph> graph = Unbalanced(activation, is_depthwise);
      const Sample sample = RandomSamples(*graph, 1, 77)[0];
      const Sample expected = RunReference(*graph, sample);
      EXPECT_EQ(EqualizeOrFail(*graph), 2);
      const Comparison comparison =
          Compare(expected[0], RunReference(*graph, sample)[0], NetworkTolerance(expected[0]));
      EXPECT_TRUE(comparison.ok()) << comparison.ToString();
    }
  }
}

// The largest value of each channel of the layer's input.
std::vector<double> LargestOf(const Graph& graph, const std::string& layer) {
  const std::unique_ptr<Graph> probe = graph.Clone();
  const GraphNames names(*probe);
  probe->AddOutput("probe", names.FindLayer(layer)->input(0));
  std::vector<double> largest;
  for (const Sample& sample : RandomSamples(graph, 8)) {
    const Tensor map = RunReference(*probe, sample)[1];
    const int64_t channels = map.shape()[1], inner = map.num_elements() / channels;
    largest.resize(static_cast<size_t>(channels), 0);
    for (int64_t i = 0; i < map.num_elements(); ++i) {
      double& most = largest[static_cast<size_t>(i / inner)];
      most = std::max(most, std::abs(map.ToDouble(i)));
    }
  }
  return largest;
}

double Spread(const std::vector<double>& values) {
  return std::ranges::max(values) / std::ranges::min(values);
}

TEST(Equalize, ChannelsComeOutAlike) {
  for (const bool is_depthwise : {false, true}) {
    const std::unique_ptr<Graph> graph = Unbalanced(Op::kRelu, is_depthwise);
    const double before = Spread(LargestOf(*graph, "second"));
    EqualizeOrFail(*graph);
    const double after = Spread(LargestOf(*graph, "second"));
    // The spread remains only for channels below a 32nd of the largest. If the weights share the factors,
    // it becomes its square root.
    EXPECT_LT(after, is_depthwise ? before / 31 : 2 * std::sqrt(before)) << before;
  }
}

TEST(Equalize, BoundsOfOneSideAndOtherUsersStopIt) {
  TestNetwork n;
  Value* first = n.Conv(n.Input({1, 3, 6, 6}), 8, "first");
  Value* bounded = n.Add(Op::kClip, {first}, {{"min", ExactNumber(-1.0)}, {"max", ExactNumber(1.0)}});
  Value* second = n.Conv(bounded, 8, "second");
  n.Output(n.Conv(n.Relu(second), 8, "third"));
  n.Output(second);
  const std::unique_ptr<Graph> graph = n.graph().Clone();
  EXPECT_EQ(EqualizeOrFail(*graph), 0);
}

}  // namespace
}  // namespace attune::quant
