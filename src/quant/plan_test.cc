#include "quant/plan.h"

#include <gtest/gtest.h>

#include "nlohmann/json.hpp"

namespace attune::quant {
namespace {

QuantizationPlan SomePlan() {
  QuantizationPlan plan;
  plan.layers = {
      {"a", Precision::kInt8, ""}, {"b", Precision::kBF16, "it \"errs\""}, {"c", Precision::kF32, ""}};
  plan.ranges = {{"x", {-0.1, 1.0 / 3}}, {"y", {0, 6}}};
  plan.clusters = 16;
  return plan;
}

TEST(QuantizationPlan, IsPrinted) {
  const nlohmann::json plan = nlohmann::json::parse(ToJson(SomePlan()));
  EXPECT_EQ(plan["layers"], nlohmann::json::parse(R"([{"layer": "a", "precision": "int8"},
                                                      {"layer": "b", "precision": "bf16", "reason": "it \"errs\""},
                                                      {"layer": "c", "precision": "f32"}])"));
  EXPECT_EQ(plan["ranges"], nlohmann::json({{"x", {-0.1, 1.0 / 3}}, {"y", {0, 6}}}));
  EXPECT_EQ(plan["clusters"], 16);
  EXPECT_FALSE(nlohmann::json::parse(ToJson({})).contains("clusters"));
}

TEST(QuantizationPlan, NamesMayBeInvalidUtf8) {
  QuantizationPlan plan;
  plan.ranges["\xFF"] = {0, 1};
  EXPECT_EQ(nlohmann::json::parse(ToJson(plan))["ranges"].size(), 1u);
}

TEST(QuantizationPlan, OtherLayersAreFloats) {
  EXPECT_EQ(SomePlan().PrecisionOf("b"), Precision::kBF16);
  EXPECT_EQ(SomePlan().PrecisionOf("z"), Precision::kF32);
}

}  // namespace
}  // namespace attune::quant
