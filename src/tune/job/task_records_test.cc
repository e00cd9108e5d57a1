#include "tune/job/task_records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tune/records/records_for_test.h"
#include "tune/task/tasks_for_test.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

Candidate Tile(int64_t width) { return {"conv_direct", {{"tile_w", width}}}; }

class TaskRecordsTest : public ::testing::Test {
 protected:
  // Adds the next trial of a run; one that takes no time has failed.
  void Add(const std::string& run, int64_t width, double seconds, const std::string& search = "random") {
    const auto trial = static_cast<int64_t>(records_.size());
    Record record = seconds > 0 ? SampleRecord(run, trial) : FailedRecord(run, trial, TrialOutcome::kCrashed);
    record.timing.seconds = seconds;
    record.search = search;
    record.config = Tile(width).config;
    records_.push_back(record);
  }

  std::vector<FittingRecord> Fitting() const {
    std::vector<FittingRecord> fitting;
    for (const Record& record : records_) fitting.push_back({&record, {record.strategy, record.config}});
    return fitting;
  }

  std::vector<Record> records_;
};

TEST_F(TaskRecordsTest, RecordsOfOtherVersionsDoNotFit) {
  const TuningTask task = MakeTask(kMatMulTask, {1});
  const auto space = ConfigSpace::Create(task, *TargetByName("znver4"));
  ASSERT_TRUE(space.ok()) << space.status();
  Record record = SampleRecord("run", 0);
  record.strategy = space->Default().strategy;
  record.config = space->Default().config;
  record.strategy_version = FindStrategy(record.strategy)->version;
  records_ = {record, record, SampleRecord("run", 1)};
  ++records_[1].strategy_version;
  const std::vector<FittingRecord> fitting = FittingRecords(records_, *space);
  ASSERT_EQ(fitting.size(), 1u);
  EXPECT_EQ(fitting[0].record, &records_[0]);
  EXPECT_EQ(fitting[0].candidate, space->Default());
}

TEST_F(TaskRecordsTest, TheBestIsAConfirmedOneAndThenAFasterOne) {
  EXPECT_THAT(BestByRecords({}).best, IsEmpty());
  Add("run", 2, 8);
  Add("run", 3, 6);
  EXPECT_THAT(BestByRecords(Fitting()).best, ElementsAre(Tile(3)));
  EXPECT_FALSE(BestByRecords(Fitting()).confirmed.has_value());
  Add("run", 2, 8, std::string(kConfirmation));
  EXPECT_THAT(BestByRecords(Fitting()).best, ElementsAre(Tile(2), Tile(3)));
  EXPECT_EQ(BestByRecords(Fitting()).confirmed, Tile(2));
}

TEST_F(TaskRecordsTest, PartsAreComparedByTheirOwnBaselines) {
  Add("slow", 1, 20);
  Add("slow", 2, 10);
  Add("fast", 1, 10);
  Add("fast", 3, 9);
  Add("fast", 4, 11);
  Add("without baseline", 5, 1);
  Add("fast", 6, 1);
  Add("fast", 6, 0);
  const KnownCandidates known = BestOfParts(Fitting(), Tile(1));
  EXPECT_THAT(known.best, ElementsAre(Tile(2), Tile(3)));
  EXPECT_FALSE(known.confirmed.has_value());
}

TEST_F(TaskRecordsTest, AResumedRunKnowsItsBestAfterEachBatch) {
  Add("run", 1, 10);
  Add("run", 2, 8);
  Add("another", 3, 1);
  Add("run", 4, 5);
  Add("run", 5, 6);
  Add("run", 6, 7);
  Add("run", 6, 0);
  const ResumedRun resumed = ResumedRun::Of(Fitting(), "run", Tile(1), /*batch=*/2);
  EXPECT_THAT(resumed.ratios, UnorderedElementsAre(Pair(Tile(1), 1.0), Pair(Tile(2), 0.8), Pair(Tile(4), 0.5),
                                                   Pair(Tile(5), 0.6)));
  EXPECT_THAT(resumed.best, ElementsAre(0.8, 0.5, 0.5));
  EXPECT_EQ(resumed.since_gain, 3);
}

}  // namespace
}  // namespace attune
