#include "api/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "graph/text.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

// f32 everywhere, so that few kernels cover it: relu(x + y) and x * y.
constexpr std::string_view kTwoOutputs = R"(
graph @two(%x: f32[1,4], %y: f32[1,4]) {
  %s = add(%x, %y) : f32[1,4]
  %r = relu(%s) : f32[1,4]
  %p = mul(%x, %y) : f32[1,4]
  return "relu": %r, "product": %p
})";

std::unique_ptr<Graph> Parse(std::string_view text) {
  absl::StatusOr<std::unique_ptr<Graph>> graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : std::make_unique<Graph>();
}

Network Two() { return Network::FromGraph(*Parse(kTwoOutputs), "two.onnx"); }

std::vector<NamedTensor> TwoInputs() {
  const float x[] = {1, -2, 3, -4}, y[] = {0.5, 1, 2, 3};
  return {{"y", Tensor::FromFloats(y, {1, 4})}, {"x", Tensor::FromFloats(x, {1, 4})}};
}

std::vector<float> Floats(const Tensor& tensor) {
  const std::span<const float> values = tensor.as<float>();
  return {values.begin(), values.end()};
}

TEST(NetworkTest, RunsOptimizedAndPlainCodeAlike) {
  for (const Network& network : {Two().Optimize().Compile(), Two().Compile()}) {
    const absl::StatusOr<std::vector<NamedTensor>> outputs = network.Run(TwoInputs(), 1);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    ASSERT_THAT(*outputs, SizeIs(2));
    EXPECT_EQ((*outputs)[0].name, "relu");
    EXPECT_THAT(Floats((*outputs)[0].tensor), ElementsAre(1.5f, 0, 5, 0));
    EXPECT_EQ((*outputs)[1].name, "product");
    EXPECT_THAT(Floats((*outputs)[1].tensor), ElementsAre(0.5f, -2, 6, -12));
  }
}

TEST(NetworkTest, SavesAnArtifactThatRunsAlike) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "two.atn";
  ASSERT_TRUE(Two().Optimize().Compile().Save(path).status().ok());
  const Network loaded = Network::Load(path);
  ASSERT_TRUE(loaded.status().ok()) << loaded.status();
  EXPECT_TRUE(loaded.is_compiled());
  const absl::StatusOr<std::vector<NamedTensor>> outputs = loaded.Run(TwoInputs(), 1);
  ASSERT_TRUE(outputs.ok()) << outputs.status();
  EXPECT_THAT(Floats((*outputs)[0].tensor), ElementsAre(1.5f, 0, 5, 0));
  EXPECT_EQ(loaded.Optimize().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(loaded.Compile().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(loaded.Verify().status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(loaded.Save(folder / "again.atn").status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(std::filesystem::exists(folder / "again.atn"));
}

TEST(NetworkTest, ALoadedArtifactStaysWhatItWasWhateverBecomesOfItsFile) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "two.atn";
  const std::string artifact = Two().Optimize().Compile().artifact();
  ASSERT_TRUE(WriteFileAtomically(path, artifact).ok());
  const Network plain = Network::Load(path);
  ModelOptions options;
  options.artifact.sha256 = Sha256Hex(artifact);
  const Network checked = Network::Load(path, options);
  ASSERT_TRUE(WriteFileAtomically(path, "another file").ok());
  for (const Network& network : {plain, checked}) {
    const absl::StatusOr<std::string> bytes = network.ArtifactBytes();
    ASSERT_TRUE(bytes.ok()) << bytes.status();
    EXPECT_TRUE(*bytes == artifact);
    EXPECT_TRUE(network.Describe().ok());
  }
}

TEST(NetworkTest, CompilesTwiceToTheSameBytes) {
  const Network once = Two().Optimize().Compile(), again = Two().Optimize().Compile();
  ASSERT_TRUE(once.status().ok()) << once.status();
  EXPECT_FALSE(once.artifact().empty());
  EXPECT_TRUE(once.artifact() == again.artifact());
}

TEST(NetworkTest, TheFirstErrorStaysInTheChain) {
  const Network network = Network::Load("absent.onnx").Optimize().Compile().Save("never.atn");
  EXPECT_EQ(network.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(network.status().message()), StartsWith("absent.onnx: "));
  EXPECT_EQ(network.Run({}).status(), network.status());
  EXPECT_EQ(network.Verify().status(), network.status());
  EXPECT_EQ(network.Bench(1, 0).status(), network.status());
  EXPECT_EQ(network.Profile(1, 1).status(), network.status());
  EXPECT_EQ(network.Describe().status(), network.status());
  EXPECT_FALSE(std::filesystem::exists("never.atn"));
}

TEST(NetworkTest, AStepLeavesTheNetworkBeforeAsItWas) {
  const Network loaded = Two();
  const Network compiled = loaded.Optimize().Compile();
  EXPECT_FALSE(loaded.is_compiled());
  EXPECT_TRUE(compiled.is_compiled());
  EXPECT_EQ(loaded.Run(TwoInputs()).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(NetworkTest, RefusesFilesThatAreNoModels) {
  const testing::TemporaryFolder folder;
  for (const std::string& content : {std::string(), std::string("hello"), std::string(1000, '\xAA')}) {
    const std::string path = folder / "bad.onnx";
    ASSERT_TRUE(WriteFileAtomically(path, content).ok());
    const absl::Status status = Network::Load(path).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), StartsWith(path + ": "));
  }
}

TEST(NetworkTest, RefusesDamagedArtifacts) {
  const testing::TemporaryFolder folder;
  const std::string path = folder / "two.atn";
  const std::string artifact = Two().Optimize().Compile().artifact();
  ASSERT_GT(artifact.size(), 200);
  ASSERT_TRUE(WriteFileAtomically(path, artifact.substr(0, artifact.size() / 2)).ok());
  EXPECT_THAT(std::string(Network::Load(path).status().message()), HasSubstr("cut short"));
  std::string flipped = artifact;
  flipped[150] = static_cast<char>(flipped[150] ^ 1);
  ASSERT_TRUE(WriteFileAtomically(path, flipped).ok());
  EXPECT_THAT(std::string(Network::Load(path).status().message()), HasSubstr("damaged"));
}

TEST(NetworkTest, InputErrorsNameTheInput) {
  const Network network = Two().Optimize().Compile();
  ASSERT_TRUE(network.status().ok()) << network.status();
  std::vector<NamedTensor> inputs = TwoInputs();
  const auto message = [&] { return std::string(network.Run(inputs, 1).status().message()); };
  inputs.pop_back();
  EXPECT_EQ(message(), "two.onnx: input \"x\" (f32[1,4]) has no value");
  inputs.push_back(inputs[0]);
  EXPECT_EQ(message(), "two.onnx: input \"y\" is given twice");
  inputs[1] = {"z", inputs[0].tensor};
  EXPECT_EQ(message(), "two.onnx: there is no input \"z\"; the inputs are x, y");
  inputs[1] = {"x", Tensor(DType::kF32, {1, 5})};
  EXPECT_EQ(message(), "two.onnx: input \"x\" must be f32[1,4], not f32[1,5]");
  inputs[1] = {"x", Tensor(DType::kI32, {1, 4})};
  EXPECT_EQ(message(), "two.onnx: input \"x\" must be f32[1,4], not i32[1,4]");
  inputs = TwoInputs();
  EXPECT_EQ(network.Run(inputs, -1).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(NetworkTest, CodeForAnotherProcessorIsSavedButNotRun) {
  CompileOptions options;
  ASSERT_TRUE(TargetByName("x86-64-v4").ok());
  options.target = *TargetByName("x86-64-v4");
  options.target.required_features.push_back("instructions-of-the-future");
  const Network network = Two().Optimize().Compile(options);
  ASSERT_TRUE(network.status().ok()) << network.status();
  EXPECT_FALSE(network.artifact().empty());
  EXPECT_THAT(std::string(network.Run(TwoInputs()).status().message()), HasSubstr("another processor"));
}

// Two products of [1,2]: the sum of the terms, and their difference.
Network Products() {
  return Network::FromGraph(*Parse(R"(
graph @products(%x: f32[1,2]) {
  %w = constant() {value = f32[2,1]<1, 2>} : f32[2,1]
  %v = constant() {value = f32[2,1]<1, -1>} : f32[2,1]
  %a = matmul(%x, %w) @"sum" : f32[1,1]
  %b = matmul(%x, %v) @"difference" : f32[1,1]
  return "a": %a, "b": %b
})"),
                            "products.onnx");
}

PassPlan BF16Plan() {
  PassPlan plan = DefaultPlan();
  EXPECT_TRUE(SetBF16(plan).ok());
  return plan;
}

TEST(NetworkTest, BF16LeavesLayersThatErrInF32) {
  const float x[] = {1, 1.003f};  // equal in bf16
  const OptimizeOptions options = {
      .dump_folder = "", .examples = {{"x", Tensor::FromFloats(x, {1, 2})}}, .jobs = 1};
  const Network network = Products().Optimize(BF16Plan(), options).Compile();
  ASSERT_TRUE(network.status().ok()) << network.status();
  ASSERT_TRUE(network.precision_report().has_value());
  const PrecisionReport& report = *network.precision_report();
  EXPECT_EQ(report.not_measured, "");
  ASSERT_THAT(report.layers, SizeIs(2));
  EXPECT_EQ(report.layers[0].name, "sum");
  EXPECT_TRUE(report.layers[0].is_bf16);
  EXPECT_LT(*report.layers[0].error, 0.01);
  EXPECT_EQ(report.layers[1].name, "difference");
  EXPECT_FALSE(report.layers[1].is_bf16);
  EXPECT_GT(*report.layers[1].error, 0.9);
  ASSERT_THAT(report.outputs, SizeIs(2));
  EXPECT_GT(report.outputs[0].error, 0);
  EXPECT_LT(report.outputs[0].error, 0.01);
  EXPECT_LT(report.outputs[1].error, 1e-4);
  EXPECT_TRUE(network.artifact() == Products().Optimize(BF16Plan(), options).Compile().artifact());
}

TEST(NetworkTest, BF16MeasuresLayersBesideBranches) {
  const Network network = Network::FromGraph(*Parse(R"(
graph @branches(%c: bool[], %x: f32[1,2]) {
  %w = constant() {value = f32[2,2]<1, 2, 3, 4>} : f32[2,2]
  %a = matmul(%x, %w) @"outside" : f32[1,2]
  %y = if(%c, %a) {
    graph(%b: f32[1,2]) {
      %v = constant() {value = f32[2,2]<1, 2, 3, 4>} : f32[2,2]
      %d = matmul(%b, %v) @"within" : f32[1,2]
      return "": %d
    }
    graph(%e: f32[1,2]) {
      return "": %e
    }
  } : f32[1,2]
  return "y": %y
})"),
                                             "branches.onnx")
                              .Optimize(BF16Plan())
                              .Compile();
  ASSERT_TRUE(network.status().ok()) << network.status();
  const PrecisionReport& report = *network.precision_report();
  EXPECT_EQ(report.not_measured, "");
  ASSERT_THAT(report.layers, SizeIs(2));
  EXPECT_EQ(report.layers[0].name, "within");
  EXPECT_FALSE(report.layers[0].error.has_value());
  EXPECT_EQ(report.layers[1].name, "outside");
  EXPECT_TRUE(report.layers[1].error.has_value());
  ASSERT_THAT(report.outputs, SizeIs(1));
  EXPECT_LT(report.outputs[0].error, 0.05);
}

TEST(NetworkTest, BF16ForAnotherProcessorIsNotMeasured) {
  const Network network =
      Products().Optimize(BF16Plan(), {.dump_folder = "", .measure = false, .examples = {}});
  ASSERT_TRUE(network.precision_report().has_value());
  EXPECT_THAT(network.precision_report()->not_measured, HasSubstr("another processor"));
  for (const LayerPrecision& layer : network.precision_report()->layers) EXPECT_TRUE(layer.is_bf16);
  EXPECT_FALSE(Products().Optimize().precision_report().has_value());
}

TEST(NetworkTest, VerifiesAgainstTheReference) {
  const absl::StatusOr<VerifyReport> report = Two().Optimize().Compile().Verify({}, 7, 1);
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->ok());
  ASSERT_THAT(report->outputs, SizeIs(2));
  EXPECT_EQ(report->outputs[1].name, "product");
  EXPECT_EQ(report->outputs[1].comparison.elements, 4);
}

TEST(NetworkTest, CheckOutputsFindsAWrongOne) {
  const std::unique_ptr<Graph> graph = Parse(kTwoOutputs);
  const float right[] = {1, 2, 3, 4}, wrong[] = {1, 2, 3, 4.01};
  const Tensor expected = Tensor::FromFloats(right, {1, 4});
  const std::vector<OutputCheck> checks = CheckOutputs(
      *graph, {expected, expected}, {{"relu", expected}, {"product", Tensor::FromFloats(wrong, {1, 4})}});
  EXPECT_TRUE(checks[0].ok);
  EXPECT_FALSE(checks[1].ok);
}

TEST(NetworkTest, VerifyAllowsForWhatRoundingExplains) {
  // f16 loses the difference between neighbours, so that the reference itself is far from the exact result.
  const std::unique_ptr<Graph> graph = Parse(R"(
graph @cancel(%x: f16[1]) {
  %big = constant() {value = f16[]<2048>} : f16[]
  %sum = add(%x, %big) : f16[1]
  %y = sub(%sum, %big) : f16[1]
  return "y": %y
})");
  Tensor x(DType::kF16, {1}), y(DType::kF16, {1});
  x.SetDouble(0, 0.75);
  const auto verify = [&](double actual) {
    y.SetDouble(0, actual);
    const absl::StatusOr<VerifyReport> report = VerifyAgainstReference(*graph, {{"x", x}}, {{"y", y}});
    return report.ok() && report->ok();
  };
  EXPECT_TRUE(verify(0.75));  // exact, although the reference gives 0
  EXPECT_FALSE(verify(30));
}

TEST(NetworkTest, BenchesAndProfiles) {
  const Network network = Two().Optimize().Compile();
  const absl::StatusOr<TimedRuns> runs = network.Bench(1, 0);
  ASSERT_TRUE(runs.ok()) << runs.status();
  EXPECT_THAT(runs->milliseconds, SizeIs(3));
  EXPECT_GT(runs->times.wall_seconds, 0);
  for (const double seconds : {-1.0, 1e9, std::nan("")})
    EXPECT_EQ(network.Bench(1, seconds).status().code(), absl::StatusCode::kInvalidArgument);
  const absl::StatusOr<ProfileReport> profile = network.Profile(1, 3);
  ASSERT_TRUE(profile.ok()) << profile.status();
  double share = 0;
  for (const KernelProfile& kernel : profile->kernels) share += kernel.share;
  EXPECT_NEAR(share, 1, 1e-6);
  EXPECT_FALSE(network.Profile(1, 0).ok());
}

TEST(NetworkTest, DescribesTheMemoryPlan) {
  const absl::StatusOr<NetworkDescription> description = Two().Optimize().Compile().Describe();
  ASSERT_TRUE(description.ok()) << description.status();
  const Manifest& manifest = description->manifest;
  EXPECT_THAT(description->program().inputs, SizeIs(2));
  EXPECT_EQ(manifest.provenance.model_name, "two.onnx");
  EXPECT_EQ(manifest.provenance.pass_plan, Print(DefaultPlan()));
  for (const Port& port : description->program().inputs) EXPECT_GE(description->uses[port.tensor].first, 0);
}

TEST(RandomTest, IsTheSameForTheSameSeed) {
  EXPECT_TRUE(RandomTensor(DType::kF32, {100}, 3)->Identical(*RandomTensor(DType::kF32, {100}, 3)));
  EXPECT_FALSE(RandomTensor(DType::kF32, {100}, 3)->Identical(*RandomTensor(DType::kF32, {100}, 4)));
}

TEST(RandomTest, IntegersStayBelowTheLimit) {
  const Tensor tensor = *RandomTensor(DType::kI64, {1000}, 1, 7);
  EXPECT_THAT(tensor.ToInts(), ::testing::Each(::testing::AllOf(::testing::Ge(0), ::testing::Lt(7))));
  EXPECT_THAT(tensor.ToInts(), ::testing::Contains(6));
}

TEST(RandomTest, IndicesAreInRange) {
  const std::unique_ptr<Graph> graph = Parse(R"(
graph @embed(%table: f32[2,4], %ids: i32[3], %other: i64[2]) {
  %i = cast(%ids) {to = i64} : i64[3]
  %rows = gather(%table, %i) {axis = 0} : f32[3,4]
  return "rows": %rows, "other": %other
})");
  EXPECT_THAT(RandomLimits(*graph), ElementsAre(100, 2, 100));
}

TEST(ShapesTest, ASymbolIsBoundForAllInputs) {
  std::vector<InputDeclaration> inputs = {{"a", DType::kF32, "f32", {-1, 3}, {"N", "3"}},
                                          {"b", DType::kF32, "f32", {-1, -1}, {"N", "?"}}};
  ASSERT_TRUE(BindShapes({{"a", {8, 3}}}, inputs).ok());
  EXPECT_EQ(ToString(inputs[1]), "f32[8,?]");
  EXPECT_FALSE(BindShapes({{"b", {9, 1}}}, inputs).ok());
  EXPECT_FALSE(BindShapes({{"a", {8, 4}}}, inputs).ok());
  EXPECT_FALSE(BindShapes({{"a", {8}}}, inputs).ok());
  EXPECT_FALSE(BindShapes({{"c", {8}}}, inputs).ok());
}

}  // namespace
}  // namespace attune
