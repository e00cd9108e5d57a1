// Artifacts for several processors and several sets of input shapes, compiled and run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/network.h"
#include "base/random.h"
#include "device/host.h"
#include "device/host_cpu_for_test.h"
#include "reference/interpreter.h"
#include "target/features.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

const char* const kLevels[] = {"x86-64-v3", "x86-64-v4", "sapphirerapids"};

Tensor Floats(const Shape& shape, uint64_t seed) { return *RandomTensor(DType::kF32, shape, seed); }

Tensor Bytes(const Shape& shape, uint64_t seed) {
  Random random(seed);
  Tensor tensor(DType::kI8, shape);
  for (int8_t& byte : tensor.as_mutable<int8_t>()) byte = static_cast<int8_t>(random.Integer(-128, 127));
  return tensor;
}

// Convolutions of `size` x `size` pixels whose weights each level packs in its own way: 1 x 1, and 3 x 3,
// which uses Winograd.
std::unique_ptr<Graph> Convolutions(int64_t size) {
  auto graph = std::make_unique<Graph>("convolutions");
  Value* x = graph->AddInput("x", TensorType(DType::kF32, Shape{1, 32, size, size}));
  Value* wide = graph->AddConstant(Floats({128, 32, 1, 1}, 1), "wide");
  Value* square = graph->AddConstant(Floats({128, 128, 3, 3}, 2), "square");
  Value* y = graph->Make(Op::kConv, {x, wide});
  y = graph->Make(Op::kRelu, {y});
  graph->AddOutput("y", graph->Make(Op::kConv, {y, square}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}}));
  return graph;
}

// An integer product, exact at every level.
std::unique_ptr<Graph> IntegerProduct() {
  auto graph = std::make_unique<Graph>("product");
  Value* x = graph->AddInput("x", TensorType(DType::kI8, Shape{24, 256}));
  Value* w = graph->AddConstant(Bytes({256, 192}, 3), "w");
  graph->AddOutput("y", graph->Make(Op::kMatMulInteger, {x, w}));
  return graph;
}

std::vector<Target> Levels() {
  std::vector<Target> targets;
  for (const char* name : kLevels) targets.push_back(*TargetByName(name));
  return targets;
}

CompileOptions ForLevels() {
  CompileOptions options;
  options.more_targets = Levels();
  options.target = options.more_targets.front();
  options.more_targets.erase(options.more_targets.begin());
  return options;
}

CompileOptions ForLevel(const char* name) {
  CompileOptions options;
  options.target = *TargetByName(name);
  return options;
}

Network Optimized(const Graph& graph) { return Network::FromGraph(graph, "model.onnx").Optimize(); }

std::string ArtifactOf(const Network& network) {
  EXPECT_TRUE(network.status().ok()) << network.status();
  return network.artifact();
}

bool HasInstructionsOf(const char* name) {
  ScopedHostCpu none(nullptr);
  const absl::StatusOr<Target> host = HostTarget();
  const Target target = *TargetByName(name);
  return host.ok() && std::ranges::all_of(target.required_features,
                                          [&](const std::string& feature) { return host->Has(feature); });
}

Tensor OutputOf(const std::shared_ptr<const CompiledModel>& model, const Tensor& x) {
  absl::StatusOr<Session> session = Session::Create(model, 1);
  EXPECT_TRUE(session.ok()) << session.status();
  EXPECT_TRUE(session->SetInputs({{"x", x}}).ok());
  EXPECT_TRUE(session->Run().ok());
  return session->Outputs()->front().tensor;
}

TEST(VariantsTest, EachLevelIsChosenByItsInstructions) {
  const std::unique_ptr<Graph> floats = Convolutions(14), integers = IntegerProduct();
  const std::string of_floats = ArtifactOf(Optimized(*floats).Compile(ForLevels()));
  const std::string of_integers = ArtifactOf(Optimized(*integers).Compile(ForLevels()));
  const Tensor x = Floats({1, 32, 14, 14}, 4), n = Bytes({24, 256}, 5);
  const Tensor exact = Interpreter().Run(*integers, {n})->front();
  const Tensor close = Interpreter().Run(*floats, {x})->front();
  for (const char* level : kLevels) {
    if (!HasInstructionsOf(level)) continue;
    const ScopedHostCpu chosen(level);
    for (const std::string& artifact : {of_floats, of_integers}) {
      const auto model = CompiledModel::FromBytes(artifact);
      ASSERT_TRUE(model.ok()) << model.status();
      EXPECT_STREQ(attune_model_metadata((*model)->handle(), "target.cpu"), level);
      EXPECT_STREQ(attune_model_metadata((*model)->handle(), "target.cpus"),
                   "sapphirerapids,x86-64-v4,x86-64-v3");
    }
    EXPECT_TRUE(OutputOf(*CompiledModel::FromBytes(of_integers), n).Identical(exact)) << level;
    const Tensor y = OutputOf(*CompiledModel::FromBytes(of_floats), x);
    for (int64_t i = 0; i < y.num_elements(); ++i)
      ASSERT_NEAR(y.ToDouble(i), close.ToDouble(i), 1e-2) << level << " " << i;
  }
}

// Each level reads the weights in a different form.
TEST(VariantsTest, WeightsAreStoredOnce) {
  for (const std::unique_ptr<Graph>& graph : {Convolutions(14), IntegerProduct()}) {
    int64_t weights = 0;
    for (const auto& node : graph->nodes()) {
      if (node->op() == Op::kConstant) weights += node->output()->constant()->num_bytes();
    }
    const absl::StatusOr<NetworkDescription> three = Optimized(*graph).Compile(ForLevels()).Describe();
    ASSERT_TRUE(three.ok()) << three.status();
    EXPECT_THAT(three->manifest.variants, SizeIs(3));
    EXPECT_LE(three->stored_constant_bytes, static_cast<uint64_t>(weights) * 11 / 10) << graph->name();
  }
}

// Pairs of i16 take twice the bytes of i8, and Winograd's transforms four times those of a 3 x 3 kernel.
TEST(VariantsTest, WhatTakesMoreBytesPrepackedIsStoredAsItIs) {
  for (const std::unique_ptr<Graph>& graph : {Convolutions(14), IntegerProduct()}) {
    const absl::StatusOr<NetworkDescription> one =
        Optimized(*graph).Compile(ForLevel("x86-64-v3")).Describe();
    ASSERT_TRUE(one.ok()) << one.status();
    const StoredWeight& largest = one->weights.front();
    EXPECT_THAT(largest.name, HasSubstr("prepacked"));
    EXPECT_GT(largest.prepacked_bytes, largest.stored_bytes * 3 / 2);
    EXPECT_GT(one->weight_bytes(), one->stored_constant_bytes * 3 / 2);
  }
}

TEST(VariantsTest, TheSameNetworkGivesTheSameBytes) {
  const Network network = Optimized(*Convolutions(14));
  CompileOptions one_job = ForLevels(), two_jobs = ForLevels();
  one_job.jobs = 1;
  two_jobs.jobs = 2;
  EXPECT_TRUE(ArtifactOf(network.Compile(one_job)) == ArtifactOf(network.Compile(two_jobs)));
}

TEST(VariantsTest, CompressedWeightsArePrepackedToo) {
  auto graph = std::make_unique<Graph>("few_values");
  Value* x = graph->AddInput("x", TensorType(DType::kF32, Shape{16, 64}));
  Tensor weights(DType::kF32, {64, 96});
  for (int64_t i = 0; i < weights.num_elements(); ++i) weights.SetDouble(i, static_cast<double>(i * 7 % 16));
  graph->AddOutput("y", graph->Make(Op::kMatMul, {x, graph->AddConstant(weights, "w")}));
  CompileOptions options = ForLevels();
  options.compress_constants = true;
  const std::string artifact = ArtifactOf(Optimized(*graph).Compile(options));
  EXPECT_LT(artifact.size(), ArtifactOf(Optimized(*graph).Compile(ForLevels())).size());
  const Tensor input = Floats({16, 64}, 6);
  const Tensor expected = Interpreter().Run(*graph, {input})->front();
  const Tensor y = OutputOf(*CompiledModel::FromBytes(artifact), input);
  for (int64_t i = 0; i < y.num_elements(); ++i) ASSERT_NEAR(y.ToDouble(i), expected.ToDouble(i), 1e-3);
}

class ShapeSetsTest : public ::testing::Test {
 protected:
  static Network Compiled(CompileOptions options = {}) {
    return Optimized(*Convolutions(14))
        .WithShapesOf(Optimized(*Convolutions(20)))
        .WithShapesOf(Optimized(*Convolutions(7)))
        .Compile(std::move(options));
  }
};

TEST_F(ShapeSetsTest, EachRunsAtItsShapes) {
  const Network network = Compiled();
  ASSERT_TRUE(network.status().ok()) << network.status();
  EXPECT_EQ(network.Inputs()->front().shape, (Shape{1, 32, 14, 14}));
  for (const int64_t size : {7, 14, 20, 7}) {
    const Tensor x = Floats({1, 32, size, size}, static_cast<uint64_t>(size));
    const absl::StatusOr<std::vector<NamedTensor>> outputs = network.Run({{"x", x}}, 1);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    const Tensor& y = outputs->front().tensor;
    const Tensor expected = Interpreter().Run(*Convolutions(size), {x})->front();
    ASSERT_EQ(y.shape(), expected.shape());
    for (int64_t i = 0; i < y.num_elements(); ++i)
      ASSERT_NEAR(y.ToDouble(i), expected.ToDouble(i), 1e-2) << size << " " << i;
  }
}

TEST_F(ShapeSetsTest, AnotherShapeIsAnErrorThatListsThem) {
  const absl::StatusOr<std::vector<NamedTensor>> outputs =
      Compiled().Run({{"x", Floats({1, 32, 9, 9}, 1)}}, 1);
  EXPECT_THAT(
      outputs.status().message(),
      HasSubstr("model.onnx: is not compiled for inputs of these shapes, but for x f32[1,32,14,14]; or "
                "for x f32[1,32,20,20]; or for x f32[1,32,7,7]"));
}

TEST_F(ShapeSetsTest, WeightsAndEqualKernelsAreStoredOnce) {
  const absl::StatusOr<NetworkDescription> three = Compiled(ForLevels()).Describe();
  const absl::StatusOr<NetworkDescription> one = Optimized(*Convolutions(14)).Compile(ForLevels()).Describe();
  ASSERT_TRUE(three.ok() && one.ok()) << three.status() << one.status();
  EXPECT_LE(three->stored_constant_bytes, one->stored_constant_bytes * 11 / 10);
  for (const Variant& variant : three->manifest.variants) EXPECT_THAT(variant.programs, SizeIs(3));

  const auto copies = [](const Network& network) { return network.Describe()->variant().kernels.size(); };
  auto graph = std::make_unique<Graph>("same");
  Value* x = graph->AddInput("x", TensorType(DType::kF32, Shape{1, 8}));
  Value* rows = graph->AddInput("rows", TensorType(DType::kF32, Shape{4}));
  graph->AddOutput("y", graph->Make(Op::kTanh, {x}));
  graph->AddOutput("z", graph->Make(Op::kExp, {rows}));
  const std::unique_ptr<Graph> longer = graph->Clone();
  longer->inputs()[1]->set_type(TensorType(DType::kF32, Shape{6}));
  longer->outputs()[1].value->set_type(TensorType(DType::kF32, Shape{6}));
  const Network first = Optimized(*graph), second = Optimized(*longer);
  EXPECT_EQ(copies(first.WithShapesOf(second).Compile()), 3u);
  EXPECT_EQ(copies(first.Compile()), 2u);
}

TEST_F(ShapeSetsTest, TheSameShapesTwiceAreAnError) {
  const Network network = Optimized(*Convolutions(14));
  EXPECT_THAT(network.WithShapesOf(network).Compile().status().message(),
              HasSubstr("two programs for inputs of the same shapes"));
}

TEST_F(ShapeSetsTest, UnoptimizedNetworksAreAnError) {
  const Network network = Network::FromGraph(*Convolutions(14), "model.onnx");
  EXPECT_FALSE(network.WithShapesOf(network.Optimize()).status().ok());
}

}  // namespace
}  // namespace attune
