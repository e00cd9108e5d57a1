#include "api/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "import/onnx/testing/model_builder.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

// y = relu(x w) for x f32[N,64] and w f32[64,32].
OpenedModel Product() {
  onnx::Model model;
  model.AddInput("x", {"N", "64"});
  onnx::TensorProto* weights = model.proto.mutable_graph()->add_initializer();
  weights->set_name("w");
  weights->set_data_type(onnx::TensorProto::FLOAT);
  for (const int64_t size : {64, 32}) weights->add_dims(size);
  const Tensor values = *RandomTensor(DType::kF32, {64, 32}, /*seed=*/1);
  weights->set_raw_data(values.data(), static_cast<size_t>(values.num_bytes()));
  model.AddNode("MatMul", {"x", "w"}, {"product"});
  model.AddNode("Relu", {"product"}, {"y"});
  model.AddOutput("y");
  absl::StatusOr<OpenedModel> opened =
      OpenedModel::FromBytes(model.proto.SerializeAsString(), "product.onnx");
  EXPECT_TRUE(opened.ok()) << opened.status();
  return *std::move(opened);
}

NetworkSource At(int rows) {
  NetworkSource source;
  source.shapes = {"x=" + std::to_string(rows) + "x64"};
  return source;
}

CompileRequest WithoutRecords() {
  CompileRequest request;
  request.records = "none";
  request.jobs = 1;
  return request;
}

std::string ErrorOf(const absl::Status& status) { return std::string(status.message()); }

TEST(Pipeline, CompilesAModelForASetOfShapes) {
  const absl::StatusOr<ReadyNetwork> ready = CompileModel(Product(), At(2), WithoutRecords());
  ASSERT_TRUE(ready.ok()) << ready.status();
  EXPECT_TRUE(ready->network.is_compiled());
  EXPECT_EQ(ready->network.Inputs()->front().shape, (Shape{2, 64}));
  EXPECT_THAT(ready->inputs, IsEmpty());
  EXPECT_EQ(ready->network.pass_plan(), Print(DefaultPlan()));
  const auto report = ready->network.Verify();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->ok());
}

TEST(Pipeline, CompilesAModelForSeveralSetsOfShapes) {
  NetworkSource source;
  source.shape_sets = {{"x=1x64"}, {"x=4x64"}};
  source.inputs.inputs = {"random:7"};
  StageSeconds seconds;
  const absl::StatusOr<ReadyNetwork> ready = CompileModel(Product(), source, WithoutRecords(), &seconds);
  ASSERT_TRUE(ready.ok()) << ready.status();
  EXPECT_THAT(ready->network.Describe()->variant().programs, SizeIs(2));
  // The values are for the first set.
  ASSERT_THAT(ready->inputs, SizeIs(1));
  EXPECT_EQ(ready->inputs[0].tensor.shape(), (Shape{1, 64}));
  EXPECT_TRUE(ready->network.Run(ready->inputs, 1).ok());
  EXPECT_EQ(seconds.quantize, 0);
}

TEST(Pipeline, TheSameRequestGivesTheSameBytes) {
  const auto once = CompileModel(Product(), At(2), WithoutRecords());
  const auto again = CompileModel(Product(), At(2), WithoutRecords());
  ASSERT_TRUE(once.ok() && again.ok()) << once.status() << again.status();
  EXPECT_TRUE(once->network.artifact() == again->network.artifact());
}

TEST(Pipeline, OptionsReachTheArtifact) {
  CompileRequest request = WithoutRecords();
  request.cpus = {"znver3", "x86-64-v3"};
  request.weights = DType::kF16;
  request.unchecked_indices = true;
  const auto ready = CompileModel(Product(), At(2), request);
  ASSERT_TRUE(ready.ok()) << ready.status();
  const absl::StatusOr<NetworkDescription> description = ready->network.Describe();
  ASSERT_TRUE(description.ok()) << description.status();
  EXPECT_THAT(description->manifest.variants, SizeIs(2));
  EXPECT_EQ(ready->network.pass_plan(), Print(*PassPlanOf(request)));
  EXPECT_NE(ready->network.pass_plan(), Print(DefaultPlan()));
  EXPECT_TRUE(description->has_unchecked_indices());
}

TEST(Pipeline, OnlyLoadsAnArtifact) {
  const auto compiled = CompileModel(Product(), At(2), WithoutRecords());
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  absl::StatusOr<OpenedModel> artifact = OpenedModel::FromBytes(compiled->network.artifact(), "product.atn");
  ASSERT_TRUE(artifact.ok()) << artifact.status();
  NetworkSource source;
  source.inputs.inputs = {"x=random:7"};
  const auto loaded = CompileModel(*std::move(artifact), source, WithoutRecords());
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_TRUE(*loaded->network.ArtifactBytes() == compiled->network.artifact());
  EXPECT_TRUE(loaded->network.Run(loaded->inputs, 1).ok());
  artifact = OpenedModel::FromBytes(compiled->network.artifact(), "product.atn");
  EXPECT_THAT(ErrorOf(OptimizeModel(*std::move(artifact), {}, WithoutRecords()).status()),
              StartsWith("product.atn: is compiled already"));
}

TEST(Pipeline, OptimizesForOneProcessor) {
  CompileRequest request = WithoutRecords();
  request.cpus = {"znver3"};
  const auto ready = OptimizeModel(Product(), At(2), request);
  ASSERT_TRUE(ready.ok()) << ready.status();
  EXPECT_FALSE(ready->network.is_compiled());
  EXPECT_FALSE(ready->network.pass_plan().empty());
  const auto contractions = PlanContractions(Product(), At(2), request);
  ASSERT_TRUE(contractions.ok()) << contractions.status();
  EXPECT_THAT(*contractions, SizeIs(1));
  request.cpus = {"znver3", "x86-64-v3"};
  EXPECT_THAT(ErrorOf(OptimizeModel(Product(), At(2), request).status()),
              StartsWith("processors znver3,x86-64-v3: several"));
}

TEST(Pipeline, RefusesWhatTheProcessorLacks) {
  CompileRequest request = WithoutRecords();
  request.cpus = {"x86-64-v3"};
  request.precision = Precision::kBF16;
  EXPECT_THAT(ErrorOf(CompileModel(Product(), At(2), request).status()), HasSubstr("no avx512_bf16"));
  EXPECT_THAT(ErrorOf(OptimizeFor(Network::FromGraph(Graph("none"), "none"), request).status()),
              HasSubstr("no avx512_bf16"));
  EXPECT_THAT(ErrorOf(CompileFor(Network::FromGraph(Graph("none"), "none"), request).status()),
              HasSubstr("no avx512_bf16"));
}

TEST(Pipeline, QuantizesAsTheRequestAndTheSamplesSay) {
  CompileRequest request;
  request.cpus = {"sapphirerapids"};
  request.precision = Precision::kInt8;
  request.threads = 3;
  const QuantizeOptions uniform = *QuantizeOptionsFor(request, {});
  EXPECT_FALSE(uniform.is_mixed);
  EXPECT_FALSE(uniform.measures_seconds);  // that processor is not here
  EXPECT_EQ(uniform.threads, 3);
  EXPECT_EQ(uniform.max_drop, 0.01);
  EXPECT_THAT(uniform.fallbacks, ElementsAre(quant::Precision::kBF16, quant::Precision::kF32));
  request.precision = Precision::kAuto;
  request.cpus = {"x86-64-v3"};
  SampleSettings samples;
  samples.max_drop = 0.02;
  const QuantizeOptions mixed = *QuantizeOptionsFor(request, samples);
  EXPECT_TRUE(mixed.is_mixed);
  EXPECT_EQ(mixed.held_back_period, 2);
  EXPECT_EQ(mixed.max_drop, 0.02);
  EXPECT_THAT(mixed.fallbacks, ElementsAre(quant::Precision::kF32));
}

TEST(Pipeline, TunesAsTheRequestSays) {
  CompileRequest request;
  request.records = "mine.db";
  request.threads = 2;
  request.weights = DType::kBF16;
  TuneOptions options;
  SetRequest(request, options);
  EXPECT_EQ(options.tuning.records, "mine.db");
  EXPECT_EQ(options.tuning.threads, 2);
  EXPECT_TRUE(options.compress_constants);
  EXPECT_EQ(options.service, nullptr);
}

}  // namespace
}  // namespace attune
