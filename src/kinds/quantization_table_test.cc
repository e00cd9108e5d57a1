#include "kinds/quantization_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/testing/temporary_folder.h"
#include "kinds/loss_judgement.h"

namespace attune {
namespace {

using Json = QuantizationTable::Json;

struct Row {
  std::string name;
  double speedup, drop;
  double judged_loss = -1;
  int samples = 0;
};

std::string BestOf(const std::vector<Row>& rows, double most) {
  const testing::TemporaryFolder folder;
  auto table = QuantizationTable::Open(folder.path() + "/table.json", "settings");
  EXPECT_TRUE(table.ok());
  for (const Row& row : rows) {
    Json json = {{"name", row.name},           {"seconds", Json::object()}, {"ms", 1},
                 {"baseline_ms", row.speedup}, {"speedup", row.speedup},    {"drop", row.drop}};
    if (row.judged_loss >= 0)
      json.update({{"judged_loss", row.judged_loss}, {"judged_samples", row.samples}});
    EXPECT_TRUE(table->Append(json).ok());
  }
  const Json* best = table->Best(most, static_cast<int>(rows.size()));
  return best == nullptr ? "" : best->at("name").get<std::string>();
}

TEST(QuantizationTableTest, WhatWasJudgedDecides) {
  // It is the fastest one, and its drop in calibration is the least.
  EXPECT_EQ(
      BestOf({{"mse", 3, 0, 0.1, 10}, {"min-max", 2, 0.005, 0, 10}, {"percentile", 2.1, 0.005, 0, 10}}, 0.01),
      "percentile");
  // Shown goes before not lost.
  EXPECT_EQ(BestOf({{"few", 3, 0, 0, 10}, {"many", 2, 0, 0, 1000}}, 0.01), "many");
  EXPECT_EQ(BestOf({{"a", 3, 0, 0.5, 10}, {"b", 2, 0, 0.3, 10}}, 0.01), "b");
  EXPECT_EQ(BestOf({{"a", 3, 0.005}, {"b", 2, 0}}, 0.01), "a");
  EXPECT_EQ(BestOf({{"a", 3, 0.5}, {"b", 2, 0.3}}, 0.01), "b");
  EXPECT_EQ(BestOf({}, 0.01), "");
}

// If a variant is shown to keep the limit, one of these is taken, and none of them is faster.
TEST(QuantizationTableTest, TheChoiceFollowsTheAgreement) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> share(0, 1);
  for (int trial = 0; trial < 40; ++trial) {
    const double most = share(random) * share(random);
    std::vector<Row> rows;
    for (int i = 0; i < 4; ++i) {
      const int samples = 20 + static_cast<int>(500 * share(random));
      const double loss = std::floor(share(random) * share(random) * share(random) * samples) / samples;
      rows.push_back(
          {std::string(1, static_cast<char>('a' + i)), 1 + share(random), share(random), loss, samples});
    }
    const auto is_shown = [&](const Row& row) { return UpperLoss(row.judged_loss, row.samples, 4) <= most; };
    const std::string best = BestOf(rows, most);
    const auto taken = std::ranges::find(rows, best, &Row::name);
    ASSERT_NE(taken, rows.end());
    for (const Row& row : rows) {
      if (!is_shown(row)) continue;
      EXPECT_TRUE(is_shown(*taken));
      EXPECT_GE(taken->speedup, row.speedup);
    }
  }
}

}  // namespace
}  // namespace attune
