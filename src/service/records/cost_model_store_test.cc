#include "service/records/cost_model_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "base/sql/testing/database_for_test.h"
#include "tune/records/record_json.h"
#include "tune/records/records_for_test.h"
#include "tune/task/task_text.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

class CostModelStoreTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_DATABASE(location_);
    store_ = *CostModelStore::Open(*location_);
  }
  // `count` records of one task, the first with this number.
  static std::vector<Record> RecordsFrom(int first, int count) {
    std::vector<Record> records;
    for (int i = first; i < first + count; ++i) records.push_back(SampleRecord("run", i));
    return records;
  }

  const testing::LocationForTest location_{GetParam()};
  std::unique_ptr<CostModelStore> store_;
  const std::string device_ = SampleRecord("run", 0).device;
  const std::string task_ = TaskDigest(SampleRecord("run", 0).task);
};
INSTANTIATE_TEST_SUITE_P(, CostModelStoreTest, testing::EveryDatabase(), testing::DatabaseOf);

TEST_P(CostModelStoreTest, NumbersVersionsAndKeepsTheCurrentOne) {
  constexpr int kVersions = 12;
  EXPECT_FALSE(store_->Current()->has_value());
  CostModelVersion version = {.records = 7, .tasks = 3, .held_back = 1, .ranking = 0.5};
  EXPECT_EQ(*store_->Add(version, "good"), 1);
  version.state = CostModelState::kRolledBack;
  version.ranking_before = 0.5;
  for (int i = 2; i <= kVersions; ++i) EXPECT_EQ(*store_->Add(version, "bad"), i);
  EXPECT_EQ(store_->Current()->value(), "good");
  const auto again = *CostModelStore::Open(*location_);
  version.version = kVersions;
  EXPECT_THAT(*again->Versions(1), ElementsAre(version));
}

TEST_P(CostModelStoreTest, RecordsCountOnceAndFromTheLatestVersionOn) {
  const std::vector<Record> records = RecordsFrom(0, 5);
  ASSERT_TRUE(store_->AddRecords("ann", records).ok());
  ASSERT_TRUE(store_->AddRecords("ann", records).ok());
  EXPECT_EQ(store_->CountRecords()->all, 5);
  EXPECT_EQ(store_->CountRecords()->since_latest, 5);
  ASSERT_TRUE(store_->Add({}, "").ok());
  ASSERT_TRUE(store_->AddRecords("ann", RecordsFrom(5, 2)).ok());
  EXPECT_EQ(store_->CountRecords()->all, 7);
  EXPECT_EQ(store_->CountRecords()->since_latest, 2);
}

TEST_P(CostModelStoreTest, TheLatestRecordsOfATaskComeAsTheyWere) {
  const std::vector<Record> records = RecordsFrom(0, 5);
  ASSERT_TRUE(store_->AddRecords("ann", records).ok());
  EXPECT_THAT(*store_->Tasks("another", 10), SizeIs(0));
  ASSERT_THAT(*store_->Tasks(device_, 10), SizeIs(1));
  EXPECT_EQ(store_->Tasks(device_, 10)->front().digest, task_);
  const auto latest = store_->Records(task_, device_, 2);
  ASSERT_TRUE(latest.ok()) << latest.status();
  ASSERT_THAT(*latest, SizeIs(2));
  EXPECT_EQ(ToJsonLine(latest->front()), ToJsonLine(records[3]));
  EXPECT_EQ(ToJsonLine(latest->back()), ToJsonLine(records[4]));
}

TEST_P(CostModelStoreTest, NothingOfATenantIsLeft) {
  ASSERT_TRUE(store_->AddRecords("ann", RecordsFrom(0, 5)).ok());
  ASSERT_TRUE(store_->AddRecords("bob", RecordsFrom(5, 2)).ok());
  EXPECT_THAT(*store_->Tenants(), ElementsAre("ann", "bob"));
  ASSERT_TRUE(store_->RemoveTenant("ann").ok());
  EXPECT_THAT(*store_->Tenants(), ElementsAre("bob"));
  EXPECT_THAT(*store_->Records(task_, device_, 10), SizeIs(2));
  ASSERT_TRUE(store_->RemoveTenant("bob").ok());
  EXPECT_EQ(store_->CountRecords()->all, 0);
  EXPECT_THAT(*store_->Tasks(device_, 10), SizeIs(0));
}

}  // namespace
}  // namespace attune
