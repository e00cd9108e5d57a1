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

TEST(QuantizationPlan, ErrorsSayWhatIsWrong) {
  const auto error = [](std::string_view text) { return std::string(ParsePlan(text).status().message()); };
  EXPECT_THAT(error("[1"), HasSubstr("not a JSON object"));
  EXPECT_THAT(error("{}"), HasSubstr("no list \"layers\""));
  EXPECT_THAT(error(R"({"layers": []})"), HasSubstr("no object \"ranges\""));
  EXPECT_THAT(error(R"({"layers": [1], "ranges": {}})"), HasSubstr("not an object"));
  EXPECT_THAT(error(R"({"layers": [{"layer": "a"}], "ranges": {}})"), HasSubstr("\"precision\""));
  EXPECT_THAT(error(R"({"layers": [{"layer": "a", "precision": "i3"}], "ranges": {}})"), HasSubstr("\"i3\""));
  EXPECT_THAT(error(R"({"layers": [], "ranges": {"x": [1]}})"), HasSubstr("[low, high]"));
  EXPECT_THAT(error(R"({"layers": [], "ranges": {"x": [2, 1]}})"), HasSubstr("\"x\""));
  EXPECT_THAT(error(R"({"layers": [], "ranges": {}, "clusters": 17})"), HasSubstr("neither 16 nor 32"));
}

}  // namespace
}  // namespace attune::quant
