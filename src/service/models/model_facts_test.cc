#include "service/models/model_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/opened_model.h"
#include "device/peaks_for_test.h"
#include "zoo/zoo.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

absl::StatusOr<ModelFacts> FactsOf(const std::string& bytes) {
  absl::StatusOr<OpenedModel> model = OpenedModel::FromBytes(bytes, "net.onnx");
  if (!model.ok()) return model.status();
  return FactsOfModel(Network::Load(*model), *TargetByName("znver4"));
}

TEST(ModelFactsTest, ANetworkOfTheZooIsDescribed) {
  const absl::StatusOr<ModelFacts> facts = FactsOf(*BuildZooModel("squeezenet1_1"));
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(facts->network.size(), 64u);
  ASSERT_EQ(facts->inputs.size(), 1u);
  EXPECT_EQ(facts->inputs[0].type, "f32[1,3,224,224]");
  ASSERT_EQ(facts->outputs.size(), 1u);
  EXPECT_THAT(facts->tasks, Not(IsEmpty()));
  EXPECT_EQ(facts->target, "znver4");
  EXPECT_NEAR(facts->weight_bytes, 4 * 1'235'496, 20'000);  // of f32
  // Twice the multiplications, of which Winograd needs fewer.
  double flops = 0;
  for (const TaskFacts& task : facts->tasks) flops += task.uses * task.work.flops;
  EXPECT_GT(flops, 0.3e9);
  EXPECT_LT(flops, 0.8e9);
  EXPECT_GT(facts->BoundSeconds(kPeaksOfTest, kCachesOfTest, 1), flops / 100e9 * 0.99);
  EXPECT_LT(facts->BoundSeconds(kPeaksOfTest, kCachesOfTest, 2),
            facts->BoundSeconds(kPeaksOfTest, kCachesOfTest, 1));
  EXPECT_LT(facts->Quantized().BoundSeconds(kPeaksOfTest, kCachesOfTest, 1),
            facts->BoundSeconds(kPeaksOfTest, kCachesOfTest, 1));

  const absl::StatusOr<ModelFacts> again = ModelFactsOfJson(ToJson(*facts));
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(ToJson(*again), ToJson(*facts));
}

TEST(ModelFactsTest, ABadModelIsRefused) { EXPECT_FALSE(FactsOf("no model").ok()); }

TEST(ModelFactsTest, TheBoundIsThatOfTasksThatSurelyRun) {
  ModelFacts facts;
  facts.tasks = {{.uses = 3, .sure_uses = 2, .work = {.flops = 1e6, .bytes_read = 1e6}},
                 {.uses = 1, .sure_uses = 1, .work = {.flops = 1e6, .bytes_read = 1000}},
                 {.uses = 1, .sure_uses = 0, .work = {.flops = 1e6}}};
  EXPECT_DOUBLE_EQ(facts.BoundSeconds(kPeaksOfTest, kCachesOfTest, 1), 2 * 1e6 / 100e9 + 1e6 / 100e9);
}

TEST(ModelFactsTest, HostileJsonIsRefused) {
  ModelFacts facts = {.network = "n"};
  facts.tasks = {{.digest = "t", .uses = 1}};
  const nlohmann::json good = ToJson(facts);
  ASSERT_TRUE(ModelFactsOfJson(good).ok());
  const std::pair<const char*, nlohmann::json> changes[] = {{"/network", 1},
                                                            {"/inputs", {{{"name", 3}}}},
                                                            {"/weight_bytes", -1},
                                                            {"/tasks/0/uses", 1e9},
                                                            {"/tasks/0/sure_uses", -1},
                                                            {"/tasks/0/bytes_read", "x"},
                                                            {"/tasks/0/flops", nullptr},
                                                            {"/tasks/0/multiplicand", "f64"},
                                                            {"/tasks", "many"}};
  for (const auto& [place, value] : changes) {
    nlohmann::json bad = good;
    bad[nlohmann::json::json_pointer(place)] = value;
    EXPECT_THAT(ModelFactsOfJson(bad).status().message(), HasSubstr(":")) << place;
  }
  EXPECT_FALSE(ModelFactsOfJson(nlohmann::json::array()).ok());
}

}  // namespace
}  // namespace attune
