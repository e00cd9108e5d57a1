// Products of f32 computed as three products of bf16, compiled for processors with tiles and for the
// software model of tiles, which runs on any machine.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "api/network.h"
#include "graph/text.h"
#include "reference/compare.h"
#include "reference/interpreter.h"
#include "target/tiles_for_test.h"

namespace attune {
namespace {

// 2^-15 of each product, which is 512 u, plus 64 u for the order of an f32 sum.
constexpr double kGamma = 512 + 64;

constexpr std::string_view kProduct = R"(graph @g(%x: f32[37,64], %w: f32[64,48]) {
  %y = matmul(%x, %w) : f32[37,48]
  return "y": %y
})";
constexpr std::string_view kTransposed = R"(graph @g(%x: f32[2,33,40], %w: f32[2,48,40]) {
  %y = matmul(%x, %w) {transpose_b = 1} : f32[2,33,48]
  return "y": %y
})";
constexpr std::string_view kConv = R"(graph @g(%x: f32[1,24,9,11], %w: f32[48,24,3,5], %b: f32[48]) {
  %y = conv(%x, %w, %b) {pads = [1, 2, 1, 2]} : f32[1,48,9,11]
  return "y": %y
})";
constexpr std::string_view kStrided = R"(graph @g(%x: f32[1,3,21,23], %w: f32[32,3,7,7]) {
  %y = conv(%x, %w) {pads = [3, 3, 3, 3], strides = [2, 2]} : f32[1,32,11,12]
  return "y": %y
})";

std::vector<Tensor> RandomInputs(const Graph& graph) {
  std::minstd_rand random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Tensor> inputs;
  for (const auto& input : graph.inputs()) {
    Tensor tensor(DType::kF32, input->type().shape());
    for (int64_t i = 0; i < tensor.num_elements(); ++i) tensor.SetDouble(i, uniform(random));
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

void ExpectWithinBound(std::string_view text, const std::vector<Tensor>& inputs) {
  const auto graph = ParseGraph(text);
  ASSERT_TRUE(graph.ok()) << graph.status();
  const auto expected = Interpreter().Run(**graph, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status();
  const auto magnitude = EvaluateMagnitude(*(*graph)->nodes().front(), inputs);
  ASSERT_TRUE(magnitude.ok()) << magnitude.status();
  std::vector<NamedTensor> named;
  for (size_t i = 0; i < inputs.size(); ++i) named.push_back({(*graph)->inputs()[i]->name(), inputs[i]});
  PassPlan plan = DefaultPlan();
  ASSERT_TRUE(SetBF16x3(plan).ok());
  for (PassStep& step : plan.steps) {
    if (step.pass == "split_products") step.parameters["min_uses"] = 1;  // split these small operands too
  }
  for (const Target& target : TargetsWithTiles()) {
    SCOPED_TRACE(target.name);
    CompileOptions options;
    options.target = target;
    const Network network = Network::FromGraph(**graph, "g").Optimize(plan).Compile(options);
    ASSERT_TRUE(network.status().ok()) << network.status();
    ASSERT_TRUE(network.precision_report().has_value());
    EXPECT_EQ(network.precision_report()->precision, "bf16x3");
    EXPECT_TRUE(network.precision_report()->layers[0].is_bf16);
    const auto actual = network.Run(named, 1);
    ASSERT_TRUE(actual.ok()) << actual.status();
    const Comparison comparison =
        Compare((*expected)[0], (*actual)[0].tensor, ContractionBound{*magnitude, kGamma, 0x1p-24});
    EXPECT_TRUE(comparison.ok()) << comparison.ToString();
  }
}

TEST(SplitProducts, RandomNumbers) {
  for (const std::string_view text : {kProduct, kTransposed, kConv, kStrided})
    ExpectWithinBound(text, RandomInputs(**ParseGraph(text)));
}

// The terms come in pairs whose sum is a 10000th of each term.
TEST(SplitProducts, TermsThatCancel) {
  std::vector<Tensor> inputs = RandomInputs(**ParseGraph(kProduct));
  for (int64_t i = 0; i < inputs[0].num_elements(); i += 2)
    inputs[0].SetDouble(i + 1, -1.0001 * inputs[0].ToDouble(i));
  const int64_t columns = inputs[1].shape()[1];
  for (int64_t i = 0; i < inputs[1].num_elements(); ++i)
    inputs[1].SetDouble(i, inputs[1].ToDouble(i / (2 * columns) * 2 * columns + i % columns));
  ExpectWithinBound(kProduct, inputs);
}

// Infinity and NaN in either operand, and numbers that bf16 would round to infinity.
TEST(SplitProducts, SpecialValues) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float special : {kInfinity, -kInfinity, NAN, kLargest, -kLargest, 3.395e38f}) {
    SCOPED_TRACE(special);
    for (const size_t operand : {size_t{0}, size_t{1}}) {
      std::vector<Tensor> inputs = RandomInputs(**ParseGraph(kProduct));
      Tensor& other = inputs[1 - operand];
      // Multiples of one half are exact in bf16: their low part is 0.
      for (int64_t i = 0; i < other.num_elements(); i += 3) other.SetDouble(i, i % 2 == 0 ? 0.5 : -0.25);
      inputs[operand].SetDouble(operand == 0 ? 64 * 3 + 5 : 48 * 5 + 3, special);
      ExpectWithinBound(kProduct, inputs);
    }
  }
}

}  // namespace
}  // namespace attune
