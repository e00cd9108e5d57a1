#include "zoo/zoo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <set>

#include "zoo/networks.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// In millions; multiplications are for a batch of one.
struct Published {
  double parameters, macs, tolerance;
};

const std::map<std::string, Published>& PublishedCounts() {
  static const auto* const kCounts = new std::map<std::string, Published>{
      // From torchvision's model pages.
      {"resnet18", {11.690, 1814, 0.001}},
      {"resnet50", {25.557, 4089, 0.001}},
      {"mobilenet_v2", {3.505, 301, 0.002}},
      {"resnext50_32x4d", {25.029, 4230, 0.001}},
      {"mobilenet_v3_small", {2.543, 57, 0.01}},
      {"mobilenet_v3_large", {5.483, 217, 0.003}},
      {"shufflenet_v2", {2.279, 145, 0.005}},
      {"regnet_x_400mf", {5.496, 414, 0.002}},
      {"regnet_y_400mf", {4.344, 402, 0.002}},
      {"inception_v3", {23.835, 5713, 0.001}},  // 27.2 M with the auxiliary classifier
      {"squeezenet1_1", {1.2355, 349, 0.001}},
      {"densenet121", {7.979, 2834, 0.001}},
      {"efficientnet_b0", {5.289, 386, 0.001}},
      {"vgg16", {138.358, 15470, 0.001}},
      {"vit_b_16", {86.568, 17564, 0.001}},
      // Trainable parameters of ResNet50V2 (6.98 GFLOPs) and MobileNet from Keras; multiplications from the
      // MobileNet paper.
      {"resnet50_v2", {25.568, 3490, 0.003}},
      {"mobilenet_v1", {4.232, 569, 0.001}},
      // From OpenVINO's model zoo, whose conversion drops the batch norms.
      {"ssd_mobilenet_v2", {16.818, 1887, 0.025}},
      // 109.48 M with the pooler; the multiplications are 85.05 M weights times 128 tokens, plus the
      // attention.
      {"bert_base", {108.892, 11174, 0.001}}};
  return *kCounts;
}

// Every name must be unique, and every input must be computed before its use.
void ExpectWellFormed(const attune_onnx::GraphProto& graph) {
  std::set<std::string> values;
  std::set<std::string> nodes;
  for (const auto& input : graph.input()) EXPECT_TRUE(values.insert(input.name()).second) << input.name();
  for (const auto& tensor : graph.initializer())
    EXPECT_TRUE(values.insert(tensor.name()).second) << tensor.name();
  for (const auto& node : graph.node()) {
    for (const std::string& input : node.input()) EXPECT_TRUE(values.contains(input)) << input;
    for (const std::string& output : node.output()) EXPECT_TRUE(values.insert(output).second) << output;
    EXPECT_TRUE(nodes.insert(node.name()).second) << node.name();
  }
  for (const auto& output : graph.output()) EXPECT_TRUE(values.contains(output.name())) << output.name();
}

class ZooNetwork : public ::testing::TestWithParam<ZooRow> {};

TEST_P(ZooNetwork, HasThePublishedSizeAndIsWellFormed) {
  const ZooRow& row = GetParam();
  NetworkBuilder builder(row.name, 0, 1);
  row.build(builder);
  EXPECT_EQ(builder.parameters(), row.parameters);
  EXPECT_EQ(builder.macs(), row.macs);
  const Published& published = PublishedCounts().at(row.name);
  EXPECT_NEAR(static_cast<double>(row.parameters) / 1e6 / published.parameters, 1.0, published.tolerance);
  EXPECT_NEAR(static_cast<double>(row.macs) / 1e6 / published.macs, 1.0, published.tolerance);
  ExpectWellFormed(builder.model().graph());
}

TEST_P(ZooNetwork, HasTheInputsOfTheTable) {
  const ZooRow& row = GetParam();
  const int64_t batch = std::min<int64_t>(row.max_batch, 2);
  NetworkBuilder builder(row.name, 3, batch);
  row.build(builder);
  ExpectWellFormed(builder.model().graph());
  for (const ZooEntry& entry : ZooNetworks()) {
    if (entry.name != row.name) continue;
    ASSERT_EQ(builder.model().graph().input_size(), static_cast<int>(entry.inputs.size()));
    const auto& input = builder.model().graph().input(0);
    EXPECT_EQ(input.name(), entry.inputs[0].name);
    std::vector<int64_t> shape;
    for (const auto& dim : input.type().tensor_type().shape().dim()) shape.push_back(dim.dim_value());
    std::vector<int64_t> expected = entry.inputs[0].shape;
    expected[0] = batch;
    EXPECT_EQ(shape, expected);
  }
}

TEST_P(ZooNetwork, IsSmallerAtAQuarterOfItsWidth) {
  const ZooRow& row = GetParam();
  if (!row.scales) {
    EXPECT_EQ(BuildZooModel(row.name, {.width = 0.25}).status().message(),
              std::string(row.name) + ": the width is 0.25, it must be 1");
    EXPECT_LT(row.parameters * 4, 50 << 20) << "a test of all processors would take long";
    return;
  }
  NetworkBuilder builder(row.name, 0, 1, 0.25);
  row.build(builder);
  EXPECT_LT(builder.parameters() * 4, 50 << 20);
  EXPECT_LT(builder.macs() * 3, row.macs);
  ExpectWellFormed(builder.model().graph());
}

INSTANTIATE_TEST_SUITE_P(All, ZooNetwork, ::testing::ValuesIn(ZooRows().begin(), ZooRows().end()),
                         [](const auto& network) { return std::string(network.param.name); });

TEST(Zoo, DependsOnSeedAndBatchAlone) {
  const auto build = [](const ZooOptions& options) { return *BuildZooModel("squeezenet1_1", options); };
  const std::string bytes = build({.seed = 7});
  EXPECT_EQ(build({.seed = 7}), bytes);
  EXPECT_NE(build({.seed = 8}), bytes);
  EXPECT_NE(build({.seed = 7, .batch = 2}), bytes);
}

TEST(Zoo, WritesOpset17) {
  attune_onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(*BuildZooModel("squeezenet1_1")));
  EXPECT_EQ(model.opset_import(0).version(), 17);
  EXPECT_EQ(model.graph().name(), "squeezenet1_1");
}

TEST(Zoo, RefusesUnknownNamesAndBatches) {
  const absl::Status unknown = BuildZooModel("resnet17").status();
  EXPECT_EQ(unknown.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(unknown.message(), StartsWith("no network is named \"resnet17\" in the zoo"));
  EXPECT_THAT(unknown.message(), HasSubstr("resnet18, resnet50, "));
  EXPECT_EQ(BuildZooModel("resnet18", {.batch = 0}).status().message(),
            "resnet18: the batch is 0, it must be 1 to 4096");
  EXPECT_EQ(BuildZooModel("resnet18", {.width = 1.5}).status().message(),
            "resnet18: the width is 1.5, it must be above 0 and at most 1");
  EXPECT_EQ(BuildZooModel("ssd_mobilenet_v2", {.batch = 2}).status().message(),
            "ssd_mobilenet_v2: the batch is 2, it must be 1");
}

std::vector<float> Floats(const NetworkBuilder& builder, const std::string& name) {
  for (const auto& tensor : builder.model().graph().initializer()) {
    if (tensor.name() != name) continue;
    std::vector<float> values(tensor.raw_data().size() / sizeof(float));
    std::memcpy(values.data(), tensor.raw_data().data(), tensor.raw_data().size());
    return values;
  }
  return {};
}

double MeanSquare(const std::vector<float>& values) {
  double sum = 0;
  for (float value : values) sum += static_cast<double>(value) * value;
  return sum / static_cast<double>(values.size());
}

TEST(NetworkBuilder, GivesWeightsTheVarianceOfTheirGain) {
  NetworkBuilder builder("test", 1, 1);
  const NetworkValue x = builder.Input("x", {1, 32, 8, 8});
  builder.Conv("conv", x, {.channels = 64, .kernel = {3, 3}, .stride = 2, .gain = 2.0});
  const std::vector<float> weights = Floats(builder, "conv.weight");
  ASSERT_EQ(weights.size(), 64u * 32 * 9);
  EXPECT_NEAR(MeanSquare(weights) * 32 * 9, 2.0, 0.05);
}

TEST(NetworkBuilder, GivesBatchNormAGainOfOneOnAverage) {
  NetworkBuilder builder("test", 1, 1);
  builder.BatchNorm("bn", builder.Input("x", {1, 4096, 1, 1}), {.scale = 0.5});
  std::vector<float> gains = Floats(builder, "bn.weight");
  const std::vector<float> variances = Floats(builder, "bn.running_var");
  ASSERT_EQ(variances.size(), 4096u);
  EXPECT_GT(MeanSquare(variances) - 1.0, 0.05) << "the statistics are trivial";
  for (size_t i = 0; i < gains.size(); ++i) gains[i] /= std::sqrt(variances[i]);
  EXPECT_NEAR(std::sqrt(MeanSquare(gains)), 0.5, 0.01);
}

TEST(NetworkBuilder, PadsAsTensorFlow) {
  const auto pads = [](int64_t size, int64_t kernel, int64_t stride) {
    return SamePads({.name = "x", .shape = {1, 1, size, size}}, kernel, stride);
  };
  EXPECT_EQ(pads(300, 3, 2), (Pads{0, 0, 1, 1}));
  EXPECT_EQ(pads(75, 3, 2), (Pads{1, 1, 1, 1}));
  EXPECT_EQ(pads(7, 1, 2), (Pads{0, 0, 0, 0}));
  EXPECT_EQ(pads(7, 2, 1), (Pads{0, 0, 1, 1}));
}

TEST(NetworkBuilder, RenamesOutputsAndTheirUses) {
  NetworkBuilder builder("test", 1, 1);
  const NetworkValue x = builder.Input("x", {1, 4});
  const NetworkValue y = builder.Relu(x);
  const NetworkValue z = builder.Softmax(y);
  builder.Output(y, "features");
  builder.Output(z, "probabilities");
  const auto& graph = builder.model().graph();
  EXPECT_EQ(graph.node(0).output(0), "features");
  EXPECT_EQ(graph.node(1).input(0), "features");
  EXPECT_EQ(graph.node(1).output(0), "probabilities");
  EXPECT_EQ(graph.output(1).type().tensor_type().shape().dim(1).dim_value(), 4);
}

}  // namespace
}  // namespace attune
