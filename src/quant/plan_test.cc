#include "quant/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune::quant {
namespace {

using ::testing::HasSubstr;

QuantizationPlan SomePlan() {
  QuantizationPlan plan;
  plan.layers = {
      {"a", Precision::kInt8, ""}, {"b", Precision::kBF16, "it \"errs\""}, {"c", Precision::kF32, ""}};
  plan.ranges = {{"x", {-0.1, 1.0 / 3}}, {"y", {0, 6}}};
  plan.clusters = 16;
  return plan;
}

TEST(QuantizationPlan, ComesBackAsItWasPrinted) {
  const absl::StatusOr<QuantizationPlan> plan = ParsePlan(ToJson(SomePlan()));
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_EQ(*plan, SomePlan());
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
