#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "opt/pass_plan.h"
#include "opt/testing.h"

namespace attune {
namespace {

constexpr std::string_view kRounding = "round_weights f16=1\ndead_code";

TEST(RoundWeights, IsOffByDefault) {
  ExpectUnchanged("round_weights", R"(graph @g(%x: f32[2,2]) {
    %w = constant() {value = f32[2,2]<1.0001, 2, 3, 4>} : f32[2,2]
    %y = matmul(%x, %w) : f32[2,2]
    return "y": %y
  })");
  PassPlan plan = DefaultPlan();
  EXPECT_EQ(WeightsOf(plan), DType::kF32);
  EXPECT_TRUE(SetWeights(plan, DType::kF16).ok());
  EXPECT_EQ(WeightsOf(plan), DType::kF16);
  EXPECT_FALSE(IsBF16(plan));
  plan.steps.clear();
  EXPECT_EQ(SetWeights(plan, DType::kF16).message(),
            "the plan lacks the pass round_weights, which rounds weights to f16");
}

TEST(RoundWeights, OfContractionsAndTables) {
  ExpectRewrite(kRounding, R"(graph @g(%x: f32[2,2], %i: i64[2]) {
    %w = constant() {value = f32[2,2]<1.0001, 2, 3, 4>} : f32[2,2]
    %t = constant() {value = f32[2,2]<5, 6, 7.0001, 8>} : f32[2,2]
    %a = matmul(%x, %w) : f32[2,2]
    %b = matmul(%a, %w) : f32[2,2]
    %c = gather(%t, %i) {axis = 0} : f32[2,2]
    %y = add(%b, %c) : f32[2,2]
    return "y": %y
  })",
                R"(graph @g(%x: f32[2,2], %i: i64[2]) {
    %w = constant() {value = f32[2,2]<1, 2, 3, 4>} : f32[2,2]
    %a = matmul(%x, %w) : f32[2,2]
    %b = matmul(%a, %w) : f32[2,2]
    %t = constant() {value = f32[2,2]<5, 6, 7, 8>} : f32[2,2]
    %c = gather(%t, %i) {axis = 0} : f32[2,2]
    %y = add(%b, %c) : f32[2,2]
    return "y": %y
  })");
}

TEST(RoundWeights, ToBF16) {
  ExpectRewrite("round_weights bf16=1\ndead_code", R"(graph @g(%x: f32[2,2]) {
    %w = constant() {value = f32[2,2]<1.001, 2, 3, 4>} : f32[2,2]
    %y = matmul(%x, %w) : f32[2,2]
    return "y": %y
  })",
                R"(graph @g(%x: f32[2,2]) {
    %w = constant() {value = f32[2,2]<1, 2, 3, 4>} : f32[2,2]
    %y = matmul(%x, %w) : f32[2,2]
    return "y": %y
  })");
  PassPlan plan = DefaultPlan();
  ASSERT_TRUE(SetWeights(plan, DType::kBF16).ok());
  EXPECT_EQ(WeightsOf(plan), DType::kBF16);
  ASSERT_TRUE(SetWeights(plan, DType::kF16).ok());
  Graph graph("g");
  EXPECT_THAT(RunPlan(graph, plan).status().message(),
              ::testing::HasSubstr("weights are rounded to f16 or to bf16, not both"));
}

// Operands of additions, and biases.
TEST(RoundWeights, NotOfOthers) {
  ExpectRewrite(kRounding, R"(graph @g(%x: f32[2,2]) {
    %w = constant() {value = f32[2,2]<1.0001, 2, 3, 4>} : f32[2,2]
    %a = matmul(%x, %w) : f32[2,2]
    %y = add(%a, %w) : f32[2,2]
    return "y": %y
  })",
                R"(graph @g(%x: f32[2,2]) {
    %0 = constant() {value = f32[2,2]<1.0001, 2, 3, 4>} : f32[2,2]
    %w = constant() {value = f32[2,2]<1, 2, 3, 4>} : f32[2,2]
    %a = matmul(%x, %w) : f32[2,2]
    %y = add(%a, %0) : f32[2,2]
    return "y": %y
  })");
  ExpectUnchanged(kRounding, R"(graph @g(%x: f32[1,1,2,2]) {
    %w = constant() {value = f32[1,1,1,1]<2>} : f32[1,1,1,1]
    %b = constant() {value = f32[1]<1.0001>} : f32[1]
    %y = conv(%x, %w, %b) : f32[1,1,2,2]
    return "y": %y
  })");
}

// f16 ends at 65504, has few bits below 2⁻¹⁴ and nothing below 2⁻²⁵.
TEST(RoundWeights, NotWhereMuchIsLost) {
  for (const char* weights :
       {"1.0001, 100000", "1e-6, 2.3e-6", "1e-9, 1e-9", "3.4028235e38, -3.4028235e38"}) {
    ExpectUnchanged(kRounding, absl::StrCat(R"(graph @g(%x: f32[2,2]) {
      %w = constant() {value = f32[2,1]<)",
                                            weights, R"(>} : f32[2,1]
      %y = matmul(%x, %w) : f32[2,1]
      return "y": %y
    })"));
  }
  ExpectRewrite(kRounding, R"(graph @g(%x: f32[2,2]) {
      %w = constant() {value = f32[2,1]<1, 1e-9>} : f32[2,1]
      %y = matmul(%x, %w) : f32[2,1]
      return "y": %y
    })",
                R"(graph @g(%x: f32[2,2]) {
      %w = constant() {value = f32[2,1]<1, 0>} : f32[2,1]
      %y = matmul(%x, %w) : f32[2,1]
      return "y": %y
    })");
}

}  // namespace
}  // namespace attune
