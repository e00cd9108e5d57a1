// From samples to a model file with integers, with the reference and with compiled code.
#include "api/quantize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/compiled_executor.h"
#include "api/network.h"
#include "export/onnx/export.h"
#include "import/common/import_once_for_test.h"
#include "import/onnx/import.h"
#include "quant/layers.h"
#include "quant/testing.h"
#include "reference/compare.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

std::vector<std::vector<NamedTensor>> NamedSamples(const Graph& graph, int count) {
  std::vector<std::vector<NamedTensor>> samples;
  for (const quant::Sample& sample : quant::RandomSamples(graph, count)) {
    samples.push_back({{graph.inputs()[0]->name(), sample[0]}});
  }
  return samples;
}

TEST(Quantize, TheModelFileComputesWhatTheGraphDoes) {
  const std::unique_ptr<Graph> graph = quant::SmallClassifier();
  const Interpreter interpreter;
  QuantizeOptions options;
  options.executor = &interpreter;
  const auto model = QuantizeGraph(*graph, NamedSamples(*graph, 8), options);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->report.calibration_samples, 6);
  EXPECT_EQ(model->report.held_back_samples, 2);
  EXPECT_GT(model->report.agreement.cosine, 0.99);
  EXPECT_EQ(model->plan.layers.size(), 4u);
  const auto bytes = ExportOnnxBytes(*model->graph);
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  const auto imported = importing::ImportOnce(ParseOnnx(*bytes, ""), {.executor = &interpreter});
  ASSERT_TRUE(imported.ok()) << imported.status();
  const quant::Sample sample = quant::RandomSamples(*graph, 1)[0];
  const Tensor expected = quant::RunReference(*model->graph, sample)[0];
  const Comparison comparison =
      Compare(expected, quant::RunReference(**imported, sample)[0], NetworkTolerance(expected));
  EXPECT_TRUE(comparison.ok()) << comparison.ToString();
}

TEST(Quantize, CompiledCodeCalibratesAlike) {
  const std::unique_ptr<Graph> graph = quant::SmallClassifier();
  const auto model = QuantizeGraph(*graph, NamedSamples(*graph, 4));
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_GT(model->report.agreement.cosine, 0.99);
}

TEST(Quantize, MixedPrecisionKeepsTheBudget) {
  const std::unique_ptr<Graph> graph = quant::SmallClassifier();
  const Interpreter interpreter;
  QuantizeOptions options;
  options.executor = &interpreter;
  options.is_mixed = true;
  options.criterion = *quant::FindCriterion("cosine");
  options.max_drop = 1e-4;
  options.clusters = 16;
  const auto model = QuantizeGraph(*graph, NamedSamples(*graph, 8), options);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->report.layers.size(), 4u);
}

TEST(Quantize, ANetworkIsQuantizedOnItsWay) {
  const std::unique_ptr<Graph> graph = quant::SmallClassifier();
  QuantizeOptions options;
  options.is_mixed = true;
  options.criterion = *quant::FindCriterion("cosine");
  options.measures_seconds = true;
  options.threads = 1;
  const Network network = Network::FromGraph(*graph, "classifier")
                              .Quantize(NamedSamples(*graph, 8), options)
                              .Optimize()
                              .Compile();
  ASSERT_TRUE(network.status().ok()) << network.status();
  ASSERT_NE(network.quantized(), nullptr);
  for (const quant::LayerReport& layer : network.quantized()->report.layers) {
    EXPECT_GT(layer.multiply_adds, 0) << layer.layer;
    for (const quant::Precision precision : {quant::Precision::kInt8, quant::Precision::kF32}) {
      ASSERT_TRUE(layer.seconds.contains(precision)) << layer.layer;
      EXPECT_GT(layer.seconds.at(precision), 0) << layer.layer;
    }
  }
  EXPECT_GT(network.quantized()->report.float_seconds, 0);
  EXPECT_GT(network.quantized()->report.seconds, 0);
  EXPECT_THAT(quant::ToText(network.quantized()->report), HasSubstr("one inference takes"));
  const auto verified = network.Verify();
  ASSERT_TRUE(verified.ok()) << verified.status();
  const absl::Status twice = Network::FromGraph(*graph, "classifier").Quantize({}).status();
  EXPECT_THAT(std::string(twice.message()), HasSubstr("classifier: there are no samples"));
}

TEST(Quantize, SaysWhatIsMissing) {
  const std::unique_ptr<Graph> graph = quant::SmallClassifier();
  EXPECT_THAT(std::string(QuantizeGraph(*graph, {}).status().message()), HasSubstr("no samples"));
  const std::vector<std::vector<NamedTensor>> wrong = {{{"z", quant::RandomNumbers({1}, 1)}}};
  EXPECT_THAT(std::string(QuantizeGraph(*graph, wrong).status().message()),
              HasSubstr("sample 1 has no value for input \"x0\""));
  Graph empty("empty");
  empty.AddOutput("y", empty.AddInput("x", TensorType(DType::kF32, Shape{2})));
  const std::vector<std::vector<NamedTensor>> samples = {{{"x", quant::RandomNumbers({2}, 1)}}};
  EXPECT_THAT(std::string(QuantizeGraph(empty, samples).status().message()), HasSubstr("to quantize"));
}

TEST(CompiledExecutor, GivesWhatTheReferenceGivesForEachGraph) {
  const CompiledExecutor executor(DefaultPlan(), 1);
  const std::unique_ptr<Graph> graph = quant::SmallClassifier();
  // The same text, but other constants.
  const std::unique_ptr<Graph> other = graph->Clone();
  Node* conv = quant::LayersOf(*other)[0];
  const Shape shape = conv->input(1)->type().shape();
  conv->SetInput(1, other->AddConstant(quant::RandomNumbers(shape, 77), "", conv));
  quant::EraseUnusedConstants(*other);
  for (const Graph* run : {graph.get(), graph.get(), other.get(), graph.get()}) {
    const quant::Sample sample = quant::RandomSamples(*run, 1)[0];
    const auto actual = executor.Run(*run, sample);
    ASSERT_TRUE(actual.ok()) << actual.status();
    const Tensor expected = quant::RunReference(*run, sample)[0];
    const Comparison comparison = Compare(expected, actual->front(), NetworkTolerance(expected));
    EXPECT_TRUE(comparison.ok()) << comparison.ToString();
  }
}

}  // namespace
}  // namespace attune
