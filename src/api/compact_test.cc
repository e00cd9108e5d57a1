// Artifacts with compressed constants give the same results as uncompressed ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "api/network.h"
#include "base/random.h"

namespace attune {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kSize = 64;

// y = x · w, where x is f32[4,64].
Network Product(const Tensor& weights) {
  Graph graph("product");
  Value* x = graph.AddInput("x", TensorType(DType::kF32, Shape{4, kSize}));
  Value* w = graph.AddConstant(weights, "w");
  graph.AddOutput("y", graph.Make(Op::kMatMul, {x, w}));
  return Network::FromGraph(graph, "product.onnx");
}

Tensor Weights(const std::function<float(int64_t)>& value) {
  Tensor weights(DType::kF32, {kSize, kSize});
  for (int64_t i = 0; i < weights.num_elements(); ++i) weights.as_mutable<float>()[i] = value(i);
  return weights;
}

// 16 different values. 0 is among them, since weights are padded with it.
Tensor ClusteredWeights() {
  return Weights([](int64_t i) { return static_cast<float>((i * 7 + i / kSize) % 16 - 5) * 0.1f; });
}

Tensor RandomWeights() {
  Random random(1);
  return Weights([&](int64_t) { return static_cast<float>(random.Normal()); });
}

CompileOptions Compact() {
  CompileOptions options;
  options.compress_constants = true;
  return options;
}

Tensor OutputOf(const Network& network) {
  const absl::StatusOr<std::vector<NamedTensor>> inputs = network.Complete({}, 1);
  EXPECT_TRUE(inputs.ok()) << inputs.status();
  const absl::StatusOr<std::vector<NamedTensor>> outputs = network.Run(*inputs, 1);
  EXPECT_TRUE(outputs.ok()) << outputs.status();
  return outputs.ok() ? outputs->front().tensor : Tensor();
}

TEST(CompactTest, ClusteredWeightsAreIndices) {
  const Network plain = Product(ClusteredWeights()).Optimize().Compile();
  const Network compact = Product(ClusteredWeights()).Optimize().Compile(Compact());
  const absl::StatusOr<NetworkDescription> as_is = plain.Describe(), description = compact.Describe();
  ASSERT_TRUE(as_is.ok() && description.ok()) << as_is.status() << description.status();
  EXPECT_THAT(as_is->constant_storage, IsEmpty());
  EXPECT_EQ(as_is->stored_constant_bytes, as_is->constant_bytes);
  ASSERT_THAT(description->constant_storage, SizeIs(1));
  EXPECT_EQ(description->constant_storage[0].encoding, "indices of 4 bits");
  EXPECT_EQ(description->constant_bytes, as_is->constant_bytes);
  EXPECT_LE(description->stored_constant_bytes, as_is->constant_bytes / 8 + kConstantPadding);
  EXPECT_LT(compact.artifact().size(), plain.artifact().size());
  EXPECT_TRUE(OutputOf(compact).Identical(OutputOf(plain)));
  EXPECT_TRUE(compact.artifact() == Product(ClusteredWeights()).Optimize().Compile(Compact()).artifact());
}

TEST(CompactTest, OrdinaryWeightsStayMapped) {
  const Network plain = Product(RandomWeights()).Optimize().Compile();
  EXPECT_TRUE(plain.artifact() == Product(RandomWeights()).Optimize().Compile(Compact()).artifact());
}

TEST(CompactTest, RoundedWeightsAreF16) {
  PassPlan plan = DefaultPlan();
  ASSERT_TRUE(SetWeights(plan, DType::kF16).ok());
  const Network plain = Product(RandomWeights()).Optimize(plan).Compile();
  const Network compact = Product(RandomWeights()).Optimize(plan).Compile(Compact());
  const absl::StatusOr<NetworkDescription> description = compact.Describe();
  ASSERT_TRUE(description.ok()) << description.status();
  ASSERT_THAT(description->constant_storage, SizeIs(1));
  EXPECT_EQ(description->constant_storage[0].encoding, "f16");
  EXPECT_TRUE(OutputOf(compact).Identical(OutputOf(plain)));
  EXPECT_FALSE(OutputOf(compact).Identical(OutputOf(Product(RandomWeights()).Optimize().Compile())));
  const absl::StatusOr<VerifyReport> report = compact.Verify();
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->ok());
}

}  // namespace
}  // namespace attune
