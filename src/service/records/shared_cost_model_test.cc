#include "service/records/shared_cost_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/random.h"
#include "base/testing/temporary_folder.h"
#include "tune/cost_model/transfer_samples.h"
#include "tune/records/records_for_test.h"
#include "tune/task/space.h"
#include "tune/task/tasks_for_test.h"

namespace attune {
namespace {

using ::testing::SizeIs;

constexpr char kTrusted[] = "trusted", kOther[] = "other";

constexpr char kAnn[] = "ann", kBob[] = "bob";

class SharedCostModelTest : public ::testing::Test {
 protected:
  SharedCostModelTest() {
    // Products of matrices of several sizes; some are held back.
    for (int rows = 8; tasks_.size() < kTasks; rows += 8) {
      const std::string sizes = absl::StrCat("[", rows, ",");
      tasks_.push_back(MakeTask(absl::StrReplaceAll(kMatMulTask, {{"[24,", sizes}}), {1}));
    }
  }

  // A database with records of all tasks on the device. Wide tiles are the faster ones, unless it lies about
  // those that models learn from.
  std::unique_ptr<RecordDatabase> Measured(const std::string& device, bool lies) {
    const std::string run = absl::StrCat("run", ++num_runs_);
    auto database = MustOpen(folder_ / absl::StrCat(run, ".db"));
    Random random(1);
    std::vector<Record> records;
    for (const TuningTask& task : tasks_) {
      auto space = ConfigSpace::Create(task, target_);
      EXPECT_TRUE(space.ok()) << space.status();
      for (int i = 0; i < kOfEach; ++i) {
        const std::optional<Candidate> candidate = space->Sample(random);
        if (!candidate) continue;
        double width = 1;
        for (const auto& [name, value] : candidate->config)
          width *= static_cast<double>(std::max<int64_t>(value, 1));
        const bool is_reversed = lies && !IsHeldBack(task.digest);
        Record record = SampleRecord(run, i);
        record.task = task.text;
        record.strategy = candidate->strategy;
        record.strategy_version = FindStrategy(candidate->strategy)->version;
        record.config = candidate->config;
        record.device = device;
        record.timing.seconds = 1e-3 * std::pow(width, is_reversed ? 0.2 : -0.2);
        record.timing.low = record.timing.high = record.timing.seconds;
        record.time_ms += num_runs_ * 1000;
        records.push_back(std::move(record));
      }
    }
    EXPECT_TRUE(database->Add(records).ok());
    return database;
  }
  // Gathers what ann has measured, and returns whether a version was learned then.
  bool Learns(SharedCostModel& shared, RecordDatabase& from) {
    EXPECT_TRUE(shared.Gather(kAnn, from, devices_).ok());
    const auto learned = shared.LearnIfDue(devices_);
    EXPECT_TRUE(learned.ok()) << learned.status();
    return *learned;
  }
  std::vector<CostModelVersion> Versions() {
    auto versions = store_->Versions(100);
    EXPECT_TRUE(versions.ok()) << versions.status();
    return *std::move(versions);
  }

  static constexpr size_t kTasks = 16;
  static constexpr int kOfEach = 24;
  const testing::TemporaryFolder folder_;
  const Target target_ = *TargetByName("znver4");
  const std::map<std::string, Target> devices_ = {{kTrusted, target_}};
  const std::unique_ptr<CostModelStore> store_ = *CostModelStore::Open(SqlLocation(folder_.path()));
  std::vector<TuningTask> tasks_;
  int num_runs_ = 0;
};

TEST_F(SharedCostModelTest, LearnsAfterSoManyRecordsAndRollsBackWhatRanksWorse) {
  SharedCostModel shared(*store_, {.every = 200, .most_records = kOfEach});
  EXPECT_TRUE(Learns(shared, *Measured(kTrusted, /*lies=*/false)));
  ASSERT_THAT(Versions(), SizeIs(1));
  const CostModelVersion version = Versions().front();
  EXPECT_EQ(version.version, 1);
  EXPECT_EQ(version.state, CostModelState::kCurrent);
  EXPECT_GT(version.held_back, 0);
  EXPECT_EQ(version.tasks + version.held_back, std::ssize(tasks_));
  EXPECT_GT(version.ranking, 0.5);
  const auto good = store_->Current();
  ASSERT_TRUE(good.ok() && good->has_value());
  EXPECT_TRUE(ParseCostModel(**good).ok());

  EXPECT_TRUE(Learns(shared, *Measured(kTrusted, /*lies=*/true)));
  ASSERT_THAT(Versions(), SizeIs(2));
  EXPECT_EQ(Versions()[0].state, CostModelState::kRolledBack);
  EXPECT_LT(Versions()[0].ranking, Versions()[0].ranking_before);
  EXPECT_EQ(Versions()[1].state, CostModelState::kCurrent);
  EXPECT_TRUE(*store_->Current() == *good);

  // One that is as good as the current one takes its place.
  EXPECT_TRUE(Learns(shared, *Measured(kTrusted, /*lies=*/false)));
  EXPECT_EQ(Versions()[0].version, 3);
  if (Versions()[0].state == CostModelState::kCurrent)
    EXPECT_EQ(Versions()[2].state, CostModelState::kReplaced);
}

TEST_F(SharedCostModelTest, TakesNothingFromOtherDevices) {
  SharedCostModel shared(*store_, {.every = 1});
  EXPECT_FALSE(Learns(shared, *Measured(kOther, /*lies=*/true)));
  EXPECT_EQ(store_->CountRecords()->all, 0);
}

TEST_F(SharedCostModelTest, CountsOnAfterTheServerStartsAgain) {
  const auto measured = Measured(kTrusted, /*lies=*/false);
  SharedCostModel before(*store_, {.every = 1'000'000});
  EXPECT_FALSE(Learns(before, *measured));
  // The same records count once.
  SharedCostModel after(*store_, {.every = 200});
  EXPECT_TRUE(Learns(after, *measured));
  EXPECT_FALSE(Learns(after, *measured));
  EXPECT_THAT(Versions(), SizeIs(1));
}

// After a tenant has left, the version is as if the tenant had never been there.
TEST_F(SharedCostModelTest, ATenantWhoLeavesTeachesTheNextVersionNothing) {
  const auto honest = Measured(kTrusted, /*lies=*/false), lies = Measured(kTrusted, /*lies=*/true);
  SharedCostModel shared(*store_, {.every = 200});
  ASSERT_TRUE(shared.Gather(kBob, *lies, devices_).ok());
  ASSERT_TRUE(store_->RemoveTenant(kBob).ok());
  EXPECT_TRUE(Learns(shared, *honest));
  const testing::TemporaryFolder other;
  const auto store = *CostModelStore::Open(SqlLocation(other.path()));
  SharedCostModel without(*store, {.every = 200});
  EXPECT_TRUE(Learns(without, *honest));
  ASSERT_TRUE(store_->Current()->has_value());
  EXPECT_TRUE(*store_->Current() == *store->Current());
}

}  // namespace
}  // namespace attune
