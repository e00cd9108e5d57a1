#include "quant/quantize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/testing/kept_progress.h"
#include "opt/driver.h"
#include "quant/agreement.h"
#include "quant/layers.h"
#include "quant/sites.h"
#include "quant/testing.h"
#include "reference/compare.h"

namespace attune::quant {
namespace {

using ::testing::HasSubstr;

std::set<const Node*> AllLayers(const Graph& graph) {
  std::set<const Node*> layers;
  for (const Node* layer : LayersOf(graph)) layers.insert(layer);
  return layers;
}

TEST(Quantize, StaysCloseToTheFloatNetwork) {
  const std::unique_ptr<Graph> graph = SmallClassifier();
  const std::vector<Sample> samples = RandomSamples(*graph, 8);
  for (const RangeMethod method :
       {RangeMethod::kMinMax, RangeMethod::kPercentile, RangeMethod::kEntropy, RangeMethod::kMse}) {
    const auto quantized = QuantizeOrFail(*graph, CalibratedPlan(*graph, samples, Precision::kInt8, method));
    for (const Sample& sample : samples) {
      EXPECT_GT(CosineAgreement(RunReference(*graph, sample), RunReference(*quantized, sample)), 0.99)
          << static_cast<int>(method);
    }
  }
}

TEST(Quantize, PassesMakeItIntegers) {
  const std::unique_ptr<Graph> graph = SmallClassifier();
  const std::vector<Sample> samples = RandomSamples(*graph, 8);
  const auto quantized = QuantizeOrFail(*graph, CalibratedPlan(*graph, samples));
  const std::unique_ptr<Graph> optimized = quantized->Clone();
  const auto reports = RunPlan(*optimized, DefaultPlan());
  ASSERT_TRUE(reports.ok()) << reports.status();
  EXPECT_EQ(CountOps(*optimized, Op::kConvInteger), 3) << Print(*optimized);
  EXPECT_EQ(CountOps(*optimized, Op::kMatMulInteger), 1);
  EXPECT_EQ(CountOps(*optimized, Op::kConv) + CountOps(*optimized, Op::kMatMul), 0);
  EXPECT_EQ(CountOps(*optimized, Op::kDequantize) + CountOps(*optimized, Op::kQuantize), 0);
  for (const Sample& sample : samples) {
    EXPECT_GT(CosineAgreement(RunReference(*quantized, sample), RunReference(*optimized, sample)), 0.999);
  }
}

TEST(Quantize, InputsAndOutputsAreAsTheyWere) {
  const std::unique_ptr<Graph> graph = SmallClassifier();
  const auto quantized = QuantizeOrFail(*graph, CalibratedPlan(*graph, RandomSamples(*graph, 2)));
  EXPECT_EQ(quantized->inputs()[0]->type(), graph->inputs()[0]->type());
  EXPECT_EQ(quantized->outputs()[0].name, graph->outputs()[0].name);
  EXPECT_EQ(quantized->outputs()[0].value->type(), graph->outputs()[0].value->type());
}

TEST(Quantize, NarrowFloatsTakeTheirType) {
  const std::unique_ptr<Graph> graph = SmallClassifier();
  for (const Precision precision : {Precision::kBF16, Precision::kF16}) {
    const auto quantized = QuantizeOrFail(*graph, UniformPlan(*graph, precision));
    for (const auto& node : quantized->nodes()) {
      if (node->op() != Op::kConv && node->op() != Op::kMatMul) continue;
      EXPECT_EQ(node->output()->type().dtype, precision == Precision::kF16 ? DType::kF16 : DType::kBF16);
    }
    const Sample sample = RandomSamples(*graph, 1)[0];
    EXPECT_GT(CosineAgreement(RunReference(*graph, sample), RunReference(*quantized, sample)), 0.999);
  }
}

TEST(Quantize, LayersOfDifferentPrecisionGoTogether) {
  const std::unique_ptr<Graph> graph = SmallClassifier();
  const std::vector<Sample> samples = RandomSamples(*graph, 2);
  QuantizationPlan plan = CalibratedPlan(*graph, samples);
  plan.layers[0].precision = Precision::kF32;
  plan.layers[1].precision = Precision::kBF16;
  const auto quantized = QuantizeOrFail(*graph, plan);
  EXPECT_GT(CosineAgreement(RunReference(*graph, samples[0]), RunReference(*quantized, samples[0])), 0.99);
  const auto reports = RunPlan(*quantized, DefaultPlan());
  ASSERT_TRUE(reports.ok()) << reports.status();
  EXPECT_EQ(CountOps(*quantized, Op::kConvInteger), 1);
}

TEST(Quantize, APlanForAnotherNetworkIsAnError) {
  const std::unique_ptr<Graph> graph = SmallClassifier();
  QuantizationPlan plan = UniformPlan(*graph, Precision::kInt8);
  EXPECT_THAT(std::string(Quantize(*graph, plan).status().message()), HasSubstr("no range for \"x0\""));
  plan.layers.push_back({"elsewhere", Precision::kInt8, ""});
  EXPECT_THAT(std::string(Quantize(*graph, plan).status().message()), HasSubstr("no layer \"elsewhere\""));
}

TEST(Sites, WhatIsConcatenatedHasOneScale) {
  TestNetwork n;
  Value* x = n.Input({1, 4, 6, 6});
  Value* a = n.Relu(n.Conv(x, 4, "a"));
  Value* b = n.Relu(n.Conv(x, 4, "b"));
  Value* both = n.Add(Op::kConcat, {a, b}, {{"axis", int64_t{1}}});
  n.Output(n.Conv(both, 4, "c"));
  const Sites sites = FindSites(n.graph(), AllLayers(n.graph()));
  ASSERT_EQ(sites.sites.size(), 3u);
  EXPECT_EQ(sites.num_groups, 2);
  EXPECT_EQ(sites.sites[0].value, x);
  EXPECT_EQ(sites.sites[1].group, sites.sites[2].group);
  EXPECT_NE(sites.sites[0].group, sites.sites[1].group);
  EXPECT_EQ(sites.sites[1].users, std::vector<Node*>{both->producer()});
}

TEST(Sites, TheEarlierOperandOfASumIsStored) {
  TestNetwork n;
  Value* x = n.Input({1, 4, 6, 6});
  Value* first = n.Conv(x, 4, "first");
  Value* second = n.Conv(x, 4, "second");
  Value* sum = n.Relu(n.Add(Op::kAdd, {second, first}));
  n.Output(n.Conv(sum, 4, "third"));
  const Sites sites = FindSites(n.graph(), AllLayers(n.graph()));
  std::set<const Value*> values;
  for (const Site& site : sites.sites) values.insert(site.value);
  EXPECT_EQ(values, (std::set<const Value*>{x, first, sum}));
}

TEST(Sites, SumsOfTransformersStayFloats) {
  TestNetwork n;
  Value* x = n.Input({1, 6, 8});
  Value* y = n.Add(Op::kAdd, {x, n.Dense(n.Add(Op::kGelu, {n.Dense(x, 16, "up")}), 8, "down")});
  n.Output(y);
  const Sites sites = FindSites(n.graph(), AllLayers(n.graph()));
  for (const Site& site : sites.sites) {
    ASSERT_EQ(site.users.size(), 1u);
    EXPECT_EQ(site.users[0]->op(), Op::kMatMul);
  }
  EXPECT_EQ(sites.sites.size(), 2u);
}

TEST(Sites, EverySiteIsACandidate) {
  const std::unique_ptr<Graph> graph = SmallClassifier();
  std::set<const Value*> candidates;
  for (const Value* value : CandidateValues(*graph)) candidates.insert(value);
  for (size_t layers = 0; layers < 16; ++layers) {
    std::set<const Node*> chosen;
    const std::vector<Node*> all = LayersOf(*graph);
    for (size_t i = 0; i < all.size(); ++i) {
      if ((layers >> i & 1) != 0) chosen.insert(all[i]);
    }
    for (const Site& site : FindSites(*graph, chosen).sites) EXPECT_TRUE(candidates.contains(site.value));
  }
}

TEST(Names, AreUniqueAndTheSameInClones) {
  const std::unique_ptr<Graph> graph = SmallClassifier();
  const std::unique_ptr<Graph> clone = graph->Clone();
  const GraphNames names(*graph), of_clone(*clone);
  std::set<std::string> seen;
  for (const Value* value : CandidateValues(*graph)) {
    EXPECT_TRUE(seen.insert(names.Of(value)).second);
    EXPECT_NE(of_clone.FindValue(names.Of(value)), nullptr);
  }
  for (const Node* layer : LayersOf(*graph)) EXPECT_NE(of_clone.FindLayer(names.Of(layer)), nullptr);
  EXPECT_EQ(names.FindLayer("nothing"), nullptr);
}

TEST(Calibration, SlicesGiveTheSameRanges) {
  const std::unique_ptr<Graph> graph = SmallClassifier();
  const std::vector<Sample> samples = RandomSamples(*graph, 3);
  const auto whole = Observe(*graph, samples, Interpreter());
  CalibrationOptions options;
  options.slice_bytes = 1;
  attune::testing::KeptProgress progress;
  options.control = progress.control();
  const auto sliced = Observe(*graph, samples, Interpreter(), options);
  ASSERT_TRUE(whole.ok() && sliced.ok()) << whole.status() << sliced.status();
  EXPECT_GT(progress.reports(), 6);
  EXPECT_TRUE(progress.is_within_total());
  EXPECT_EQ(ChooseRanges(*whole, options), ChooseRanges(*sliced, options));
}

TEST(Calibration, NeedsSamplesThatFit) {
  const std::unique_ptr<Graph> graph = SmallClassifier();
  EXPECT_FALSE(Observe(*graph, {}, Interpreter()).ok());
  EXPECT_FALSE(Observe(*graph, {Sample()}, Interpreter()).ok());
}

}  // namespace
}  // namespace attune::quant
