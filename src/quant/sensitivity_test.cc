#include "quant/sensitivity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "quant/layer_error.h"
#include "quant/layers.h"
#include "quant/report.h"
#include "quant/testing.h"

namespace attune::quant {
namespace {

using ::testing::HasSubstr;

// The classifier with a range for the output of "inner" that saturates almost everything.
struct Bad {
  std::unique_ptr<Graph> graph = SmallClassifier();
  std::vector<Sample> samples = RandomSamples(*graph, 6);
  QuantizationPlan plan = CalibratedPlan(*graph, samples);
  HeldBack data;

  Bad() {
    const GraphNames names(*graph);
    const Node* outer = names.FindLayer("outer");
    plan.ranges[names.Of(outer->input(0))] = {0, 1e-3};
    data = *RunFloat(*graph, RandomSamples(*graph, 6, 5000), Interpreter());
  }

  std::vector<LayerSensitivity> Sensitivities() const {
    const auto measured = MeasureSensitivity(*graph, plan, data, Interpreter(), CosineAgreement);
    EXPECT_TRUE(measured.ok()) << measured.status();
    return measured.value_or(std::vector<LayerSensitivity>());
  }
  // Uses the cosine.
  SearchResult Search(SearchOptions options) const {
    options.agreement = CosineAgreement;
    absl::StatusOr<SearchResult> result =
        SearchPrecisions(*graph, plan, Sensitivities(), data, Interpreter(), options);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *std::move(result) : SearchResult();
  }
};

int64_t CountAt(const QuantizationPlan& plan, Precision precision) {
  return std::ranges::count(plan.layers, precision, &LayerPlan::precision);
}

TEST(Sensitivity, FindsTheLayerThatCosts) {
  const std::vector<LayerSensitivity> measured = Bad().Sensitivities();
  ASSERT_EQ(measured.size(), 4u);
  EXPECT_EQ(std::ranges::max_element(measured, {}, &LayerSensitivity::distance)->layer, "outer");
}

TEST(Sensitivity, SearchLeavesOutWhatCosts) {
  SearchOptions options;
  options.max_drop = 0.005;
  const SearchResult result = Bad().Search(options);
  EXPECT_EQ(result.plan.PrecisionOf("outer"), Precision::kF32);
  EXPECT_GE(result.agreement.agreement, 1 - options.max_drop);
  EXPECT_EQ(CountAt(result.plan, Precision::kInt8), 3);
  EXPECT_THAT(result.plan.layers[2].reason, HasSubstr("of the agreement in int8"));
  EXPECT_THAT(result.plan.layers[2].reason, HasSubstr("with it in int8, at least"));
}

TEST(Sensitivity, SearchEndsWithWhatItsTriesFound) {
  SearchOptions options;
  options.max_drop = 0.005;
  options.most_tries = 0;
  const SearchResult result = Bad().Search(options);
  EXPECT_EQ(CountAt(result.plan, Precision::kF32), 4);
}

TEST(Sensitivity, SearchKeepsAllWhereTheBudgetAllows) {
  const Bad bad;
  SearchOptions options;
  options.max_drop = 1;
  EXPECT_EQ(bad.Search(options).plan, bad.plan);
}

TEST(Sensitivity, LayersThatGainNothingStayFloats) {
  SearchOptions options;
  options.max_drop = 1;
  for (const char* layer : {"stem", "inner", "outer", "classes"}) {
    options.seconds[layer] = {{Precision::kInt8, 0.5e-3}, {Precision::kF32, 1e-3}};
  }
  options.seconds["classes"][Precision::kInt8] = 1.1e-3;
  options.seconds["inner"][Precision::kInt8] = 1e-3 + 0.5e-6;  // within the resolution of the times
  const SearchResult result = Bad().Search(options);
  EXPECT_EQ(result.plan.PrecisionOf("classes"), Precision::kF32);
  EXPECT_EQ(result.plan.PrecisionOf("stem"), Precision::kInt8);
  EXPECT_EQ(result.plan.PrecisionOf("inner"), Precision::kInt8);
  EXPECT_THAT(result.plan.layers[3].reason, HasSubstr("no faster"));
}

TEST(Sensitivity, TheLeastPreciseTypeThatKeepsTheBudgetIsTaken) {
  const Bad bad;
  SearchOptions options;
  options.fallbacks = {Precision::kBF16, Precision::kF32};
  options.max_drop = 0.005;
  SearchResult result = bad.Search(options);
  EXPECT_EQ(result.plan.PrecisionOf("outer"), Precision::kBF16);
  EXPECT_EQ(CountAt(result.plan, Precision::kInt8), 3);

  options.seconds["outer"] = {{Precision::kInt8, 1e-3}, {Precision::kBF16, 3e-3}, {Precision::kF32, 2e-3}};
  result = bad.Search(options);
  EXPECT_EQ(result.plan.PrecisionOf("outer"), Precision::kF32);
  EXPECT_EQ(CountAt(result.plan, Precision::kInt8), 3);
}

TEST(Sensitivity, WhatNoCoarseTypeKeepsIsF32AsFarAsItMust) {
  const Bad bad;
  SearchOptions options;
  options.fallbacks = {Precision::kBF16, Precision::kF32};
  // Less than the four layers together lose in bf16, but more than each alone.
  const auto in_bf16 = MeasureAgreement(
      *QuantizeOrFail(*bad.graph, UniformPlan(*bad.graph, Precision::kBF16)), bad.data, Interpreter());
  ASSERT_TRUE(in_bf16.ok()) << in_bf16.status();
  options.max_drop = (1 - in_bf16->cosine) * 0.9;
  const SearchResult result = bad.Search(options);
  EXPECT_LE(1 - result.agreement.agreement, options.max_drop);
  EXPECT_EQ(result.plan.PrecisionOf("outer"), Precision::kF32);
  EXPECT_EQ(CountAt(result.plan, Precision::kF32), 1);
  EXPECT_GE(CountAt(result.plan, Precision::kBF16), 1);
}

class CountingExecutor : public Executor {
 public:
  absl::StatusOr<std::vector<Tensor>> Run(const Graph& graph,
                                          const std::vector<Tensor>& inputs) const override {
    ++runs;
    return Interpreter().Run(graph, inputs);
  }
  mutable int runs = 0;
};

TEST(Sensitivity, MeasuringEndsWhenTheBudgetIsBroken) {
  const Bad bad;
  const std::unique_ptr<Graph> quantized = QuantizeOrFail(*bad.graph, bad.plan);
  const CountingExecutor executor;
  const auto whole = MeasureAgreement(*quantized, bad.data, executor, CosineAgreement);
  EXPECT_EQ(executor.runs, 6);
  const auto cut = MeasureAgreement(*quantized, bad.data, executor, CosineAgreement, 0.9999);
  EXPECT_EQ(executor.runs, 7);
  ASSERT_TRUE(whole.ok() && cut.ok());
  EXPECT_LT(cut->agreement, 0.9999);
  EXPECT_GT(cut->agreement, whole->agreement);
}

// The mean of each channel of y0 over all samples.
std::vector<double> Means(const Graph& graph, const std::vector<Sample>& samples) {
  std::vector<double> means;
  for (const Sample& sample : samples) {
    const Tensor output = RunReference(graph, sample)[0];
    const int64_t channels = output.shape()[1], pixels = output.num_elements() / channels;
    means.resize(static_cast<size_t>(channels), 0);
    for (int64_t i = 0; i < output.num_elements(); ++i) {
      means[static_cast<size_t>(i / pixels)] +=
          output.ToDouble(i) / static_cast<double>(pixels) / static_cast<double>(samples.size());
    }
  }
  return means;
}

// One convolution of positive numbers, in which all small weights are rounded in the same direction.
std::unique_ptr<Graph> Shifting() {
  TestNetwork n;
  Value* x = n.Add(Op::kAbs, {n.Input({1, 4, 6, 6})});
  Tensor weights(DType::kF32, {3, 4, 1, 1});
  for (int64_t i = 0; i < weights.num_elements(); ++i) weights.SetDouble(i, i % 4 == 0 ? 1.0 : 0.4 / 127);
  n.Output(n.Add(Op::kConv, {x, n.Constant(weights)}, {}, "conv"));
  return n.graph().Clone();
}

TEST(BiasCorrection, RemovesAMeanShift) {
  const std::unique_ptr<Graph> graph = Shifting();
  const std::vector<Sample> samples = RandomSamples(*graph, 8);
  const QuantizationPlan plan = CalibratedPlan(*graph, samples);
  const std::vector<double> expected = Means(*graph, samples);
  const std::vector<double> shifted = Means(*QuantizeOrFail(*graph, plan), samples);
  const auto errors = MeasureLayerErrors(*graph, plan, samples, Interpreter());
  ASSERT_TRUE(errors.ok()) << errors.status();
  const std::unique_ptr<Graph> corrected = graph->Clone();
  EXPECT_EQ(CorrectBiases(*corrected, plan, *errors), 1);
  const std::vector<double> back = Means(*QuantizeOrFail(*corrected, plan), samples);
  for (size_t c = 0; c < expected.size(); ++c) {
    // Three weights of 0.4 steps are rounded to 0, and their inputs have mean 0.8.
    EXPECT_NEAR(shifted[c] - expected[c], -3 * 0.8 * 0.4 / 127, 2e-3);
    EXPECT_NEAR(back[c], expected[c], 1e-4);
    EXPECT_NEAR(errors->at("conv").channel_mean[c], shifted[c] - expected[c], 1e-4);
  }
}

TEST(LayerError, RatioOfSignalToNoiseFollowsTheBits) {
  const std::unique_ptr<Graph> graph = SmallClassifier();
  const std::vector<Sample> samples = RandomSamples(*graph, 4);
  const auto int8 = MeasureLayerErrors(*graph, CalibratedPlan(*graph, samples), samples, Interpreter());
  const auto f16 =
      MeasureLayerErrors(*graph, CalibratedPlan(*graph, samples, Precision::kF16), samples, Interpreter());
  ASSERT_TRUE(int8.ok() && f16.ok()) << int8.status() << f16.status();
  ASSERT_EQ(int8->size(), 4u);
  for (const auto& [layer, error] : *int8) {
    EXPECT_GT(error.SqnrDb(), 25) << layer;
    EXPECT_LT(error.SqnrDb(), 60) << layer;
    EXPECT_GT(f16->at(layer).SqnrDb(), 60) << layer;
    EXPECT_GT(error.max_absolute, 0) << layer;
  }
}

TEST(Report, SaysWhatEachLayerIsAndTakes) {
  const std::unique_ptr<Graph> graph = SmallClassifier();
  const std::vector<Sample> samples = RandomSamples(*graph, 2);
  QuantizationPlan plan = CalibratedPlan(*graph, samples);
  plan.layers[3] = {"classes", Precision::kF32, "it is no faster"};
  const auto errors = MeasureLayerErrors(*graph, plan, samples, Interpreter());
  ASSERT_TRUE(errors.ok()) << errors.status();
  QuantizationReport report;
  report.layers = ReportLayers(*graph, plan, *errors, {});
  const nlohmann::ordered_json json = ToJson(report);
  ASSERT_EQ(json["layers"].size(), 4u);
  EXPECT_EQ(json["layers"][0]["layer"], "stem");
  EXPECT_EQ(json["layers"][0]["precision"], "int8");
  EXPECT_EQ(json["layers"][0]["float_bytes"], 8 * 3 * 9 * 4);
  EXPECT_EQ(json["layers"][0]["bytes"], 8 * 3 * 9 + 8 * 4);
  EXPECT_TRUE(json["layers"][3]["sqnr_db"].is_null());
  EXPECT_EQ(json["layers"][3]["reason"], "it is no faster");
  EXPECT_THAT(ToText(report), HasSubstr("3 of 4 layers quantized"));
}

}  // namespace
}  // namespace attune::quant
