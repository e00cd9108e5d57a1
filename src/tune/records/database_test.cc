#include "tune/records/database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tune/records/records_for_test.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class DatabaseTest : public ::testing::Test {
 protected:
  // The trial numbers of a query's records.
  static std::vector<int64_t> Trials(const absl::StatusOr<std::vector<Record>>& records) {
    EXPECT_TRUE(records.ok()) << records.status();
    std::vector<int64_t> trials;
    for (const Record& record : *records) trials.push_back(record.trial);
    return trials;
  }
  std::vector<int64_t> All() { return Trials(database_->Records({})); }
  // The trial numbers of the best records; negative for a prior.
  std::vector<int64_t> BestTrials(const RecordFilter& filter, const BestOptions& options = {}) {
    const auto best = database_->Best(filter, options);
    EXPECT_TRUE(best.ok()) << best.status();
    std::vector<int64_t> trials;
    for (const BestRecord& record : *best) {
      trials.push_back(record.prior ? -record.record.trial : record.record.trial);
    }
    return trials;
  }
  void Add(const Record& record) {
    const auto added = database_->Add(record);
    ASSERT_TRUE(added.ok()) << added.status();
    EXPECT_EQ(*added, 1);
  }

  RecordsFolder folder_;
  std::unique_ptr<RecordDatabase> database_ = MustOpen(folder_ / "sub/folder/records.db");
};

// A record with a time in microseconds.
Record Timed(int64_t trial, double microseconds) {
  Record record = SampleRecord("run", trial);
  record.timing = {microseconds * 1e-6, microseconds * 1e-6, microseconds * 1e-6, 10};
  return record;
}

TEST_F(DatabaseTest, RecordsComeBackAsTheyWere) {
  const Record records[] = {SampleRecord("run", 1), FailedRecord("run", 2, TrialOutcome::kTimedOut)};
  ASSERT_EQ(database_->Add(records).value_or(-1), 2);
  database_ = MustOpen(database_->path());
  const auto back = database_->Records({});
  ASSERT_TRUE(back.ok()) << back.status();
  ASSERT_THAT(*back, SizeIs(2));
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(RecordDigest((*back)[i]), RecordDigest(records[i]));
    EXPECT_EQ((*back)[i].flops, records[i].flops);
  }
}

TEST_F(DatabaseTest, AfterACheckpointTheFileAloneHasAllRecords) {
  Add(SampleRecord("run", 1));
  Add(SampleRecord("run", 2));
  ASSERT_TRUE(database_->Checkpoint().ok());
  const std::string copy = folder_ / "copy.db";
  std::filesystem::copy_file(database_->path(), copy);
  EXPECT_THAT(Trials(MustOpen(copy)->Records({})), ElementsAre(1, 2));
  EXPECT_EQ(std::filesystem::file_size(database_->path() + "-wal"), 0);
  Add(SampleRecord("run", 3));
  EXPECT_THAT(All(), ElementsAre(1, 2, 3));
}

TEST_F(DatabaseTest, AddingAgainChangesNothing) {
  Add(SampleRecord("run", 1));
  EXPECT_EQ(database_->Add(SampleRecord("run", 1)).value_or(-1), 0);
  const Record records[] = {SampleRecord("run", 2), SampleRecord("run", 1), SampleRecord("run", 2)};
  EXPECT_EQ(database_->Add(records).value_or(-1), 1);
  EXPECT_THAT(All(), ElementsAre(1, 2));
}

TEST_F(DatabaseTest, ABatchIsAddedWholeOrNotAtAll) {
  Record wrong = SampleRecord("run", 2);
  wrong.threads = 0;
  const Record records[] = {SampleRecord("run", 1), wrong};
  const auto added = database_->Add(records);
  ASSERT_FALSE(added.ok());
  EXPECT_THAT(std::string(added.status().message()), HasSubstr("\"threads\""));
  EXPECT_THAT(All(), IsEmpty());
}

TEST_F(DatabaseTest, ATaskLearnsItsFlops) {
  Record record = SampleRecord("run", 1);
  record.flops = 0;
  Add(record);
  Add(SampleRecord("run", 2));
  record.trial = 3;
  Add(record);
  const auto records = database_->Records({});
  ASSERT_TRUE(records.ok());
  for (const Record& r : *records) EXPECT_EQ(r.flops, 2e8);
}

TEST_F(DatabaseTest, FiltersRecords) {
  for (int64_t trial = 1; trial <= 6; ++trial) {
    Record record = SampleRecord(trial == 1 ? "one" : "two", trial);
    if (trial == 2) record.device = "other";
    if (trial == 3) record.threads = 8;
    if (trial == 4) record.cache = CacheMode::kCold;
    if (trial == 5) record.task = "another";
    Add(record);
  }
  EXPECT_THAT(Trials(database_->Records({.run = "one"})), ElementsAre(1));
  EXPECT_THAT(Trials(database_->Records({.device = "other"})), ElementsAre(2));
  EXPECT_THAT(Trials(database_->Records({.threads = 8})), ElementsAre(3));
  EXPECT_THAT(Trials(database_->Records({.cache = CacheMode::kCold})), ElementsAre(4));
  EXPECT_THAT(Trials(database_->Records({.task = TaskDigest("another").substr(0, 12)})), ElementsAre(5));
  EXPECT_THAT(Trials(database_->Records({.threads = 2, .run = "two"})), ElementsAre(2, 4, 5, 6));
  EXPECT_THAT(Trials(database_->Records({.run = "tw"})), IsEmpty());
  EXPECT_FALSE(database_->Records({.task = "*"}).ok());
}

TEST_F(DatabaseTest, FindsTheFastest) {
  Add(Timed(1, 30));
  Add(Timed(2, 10));
  Add(Timed(3, 20));
  Add(FailedRecord("run", 4, TrialOutcome::kBuildFailed));
  Record other = Timed(5, 50);
  other.threads = 4;
  Add(other);
  other = Timed(6, 1);
  other.task = "another";
  other.run = "second";
  Add(other);
  EXPECT_THAT(BestTrials({}), ElementsAre(2, 5, 6));
  EXPECT_THAT(BestTrials({.threads = 2}), ElementsAre(2, 6));
  EXPECT_THAT(BestTrials({.run = "second"}), ElementsAre(6));
  EXPECT_THAT(BestTrials({.device = "nowhere"}), IsEmpty());
}

TEST_F(DatabaseTest, RecordsOfOtherVersionsArePriors) {
  Add(Timed(1, 30));
  Record old = Timed(2, 10);
  old.strategy_version = 2;
  Add(old);
  Record unknown = Timed(3, 5);
  unknown.strategy = "my_own";
  unknown.threads = 4;
  Add(unknown);
  EXPECT_THAT(BestTrials({}), ElementsAre(2, 3));
  EXPECT_THAT(BestTrials({}, {.versions = {{{"conv_direct", 3}}}}), ElementsAre(1));
  EXPECT_THAT(BestTrials({}, {.versions = {{{"conv_direct", 3}}}, .priors = true}), ElementsAre(1, -3));
  EXPECT_THAT(BestTrials({}, {.versions = {{{"conv_direct", 4}}}, .priors = true}), ElementsAre(-2, -3));
  EXPECT_THAT(BestTrials({}, {.versions = StrategyVersions()}), IsEmpty());
}

TEST_F(DatabaseTest, ConfirmedMeasurementsComeBeforeUnconfirmedOnes) {
  Add(Timed(1, 10));
  EXPECT_THAT(BestTrials({}), ElementsAre(1));
  Record confirmed = Timed(2, 30);
  confirmed.search = kConfirmation;
  Add(confirmed);
  EXPECT_THAT(BestTrials({}), ElementsAre(2));
  // The same config in a later run that has not confirmed anything yet.
  Add(Timed(7, 50));
  EXPECT_THAT(BestTrials({}), ElementsAre(2));
  Record again = Timed(12, 40);
  again.search = kConfirmation;
  Add(again);
  EXPECT_THAT(BestTrials({}), ElementsAre(12));
}

TEST_F(DatabaseTest, WhatALaterRunRefutedIsNotTheBest) {
  Record first = Timed(1, 10);
  first.search = kConfirmation;
  Add(first);
  Record again = Timed(6, 20);  // the same config
  again.run = "later";
  Add(again);
  EXPECT_THAT(BestTrials({}), ElementsAre(1));
  Record standard = Timed(7, 15);
  standard.run = "later";
  standard.search = kConfirmation;
  Add(standard);
  EXPECT_THAT(BestTrials({}), ElementsAre(7));
  EXPECT_THAT(BestTrials({.run = "run"}), ElementsAre(1));
  // A wrong result counts, whichever run the query asks for.
  Record wrong = FailedRecord("check", 11, TrialOutcome::kWrongResult);
  wrong.cache = CacheMode::kCold;
  Add(wrong);
  EXPECT_THAT(BestTrials({.run = "run"}), IsEmpty());
}

TEST_F(DatabaseTest, AConfigThatFailedSinceIsNotTheBest) {
  Add(Timed(1, 30));
  Add(Timed(5, 10));
  // The same config as trial 5, measured later.
  Add(FailedRecord("check", 10, TrialOutcome::kWrongResult));
  EXPECT_THAT(BestTrials({}), ElementsAre(1));
  // The config was repaired and measured again.
  Add(Timed(15, 11));
  EXPECT_THAT(BestTrials({}), ElementsAre(15));
  // A build that ran out of time says nothing about the kernel.
  Add(FailedRecord("check", 20, TrialOutcome::kTimedOut));
  EXPECT_THAT(BestTrials({}), ElementsAre(15));
}

TEST_F(DatabaseTest, ListsTasks) {
  Add(Timed(1, 30));
  Add(Timed(2, 20));
  Add(FailedRecord("run", 3, TrialOutcome::kCrashed));
  Record other = FailedRecord("run", 4, TrialOutcome::kCrashed);
  other.task = "another";
  Add(other);
  const auto tasks = database_->Tasks({});
  ASSERT_TRUE(tasks.ok()) << tasks.status();
  ASSERT_THAT(*tasks, SizeIs(2));
  const TaskEntry& first = (*tasks)[0];
  EXPECT_EQ(first.digest, TaskDigest(first.text));
  EXPECT_EQ(first.flops, 2e8);
  EXPECT_EQ(first.records, 3);
  EXPECT_EQ(first.failed, 1);
  EXPECT_DOUBLE_EQ(first.best_seconds, 20e-6);
  EXPECT_EQ(first.last_ms, 1'700'000'000'003);
  EXPECT_EQ((*tasks)[1].best_seconds, 0);
}

TEST_F(DatabaseTest, KeepsRuns) {
  TuningRun run = SampleRun("first");
  ASSERT_TRUE(database_->BeginRun(run).ok());
  EXPECT_EQ(database_->BeginRun(run).code(), absl::StatusCode::kAlreadyExists);
  run.state = RunState::kFinished;
  run.tuned_seconds = 0.01;
  run.end_ms = run.start_ms + 5;
  ASSERT_TRUE(database_->FinishRun(run).ok());
  // A run from another database changes it only if it is newer.
  TuningRun late = run;
  late.tuned_seconds = 1;
  EXPECT_FALSE(database_->MergeRun(late).value_or(true));
  TuningRun second = SampleRun("second");
  second.start_ms += 1;
  EXPECT_TRUE(database_->MergeRun(second).value_or(false));
  auto runs = database_->Runs();
  ASSERT_TRUE(runs.ok()) << runs.status();
  ASSERT_THAT(*runs, SizeIs(2));
  EXPECT_EQ((*runs)[0].state, RunState::kInterrupted);  // in this database
  EXPECT_EQ((*runs)[1].tuned_seconds, 0.01);
  EXPECT_FALSE(database_->MergeRun(second).value_or(true));
  second.state = RunState::kFinished;
  EXPECT_TRUE(database_->MergeRun(second).value_or(false));
}

TEST_F(DatabaseTest, ARunThatGoesOnHereIsNotEndedByACopyOfIt) {
  TuningRun run = SampleRun("run");
  ASSERT_TRUE(database_->BeginRun(run).ok());
  run.state = RunState::kFinished;
  EXPECT_FALSE(database_->MergeRun(run).value_or(true));
}

class PruneTest : public DatabaseTest {
 protected:
  PruneTest() {
    EXPECT_TRUE(database_->BeginRun(SampleRun("run")).ok());
    for (int64_t trial = 1; trial <= 4; ++trial) Add(Timed(trial, static_cast<double>(10 - trial)));
    Add(FailedRecord("run", 5, TrialOutcome::kCrashed));
    Record other = Timed(6, 100);
    other.task = "another";
    other.run = "second";
    other.device = "elsewhere";
    Add(other);
    TuningRun second = SampleRun("second");
    second.state = RunState::kFinished;
    EXPECT_TRUE(database_->BeginRun(second).ok());
  }
  PruneReport Prune(const PruneOptions& options) {
    const auto report = database_->Prune(options);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.value_or(PruneReport{});
  }
};

TEST_F(PruneTest, ByAge) {
  EXPECT_EQ(Prune({.older_than_ms = 1'700'000'000'003}).records, 2);
  EXPECT_THAT(All(), ElementsAre(3, 4, 5, 6));
}

TEST_F(PruneTest, ByRunWithItsTasks) {
  const PruneReport report = Prune({.which = {.run = "second"}});
  EXPECT_EQ(report.records, 1);
  EXPECT_EQ(report.tasks, 1);
  EXPECT_EQ(report.runs, 1);
  EXPECT_THAT(All(), ElementsAre(1, 2, 3, 4, 5));
  // A run that is still running is kept.
  EXPECT_EQ(Prune({.which = {.run = "run"}}).runs, 0);
  EXPECT_THAT(All(), IsEmpty());
}

TEST_F(PruneTest, ByDevice) {
  Prune({.which = {.device = "elsewhere"}});
  EXPECT_THAT(All(), ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(PruneTest, SparesTheBestAndTheFailed) {
  Prune({.keep_best = 2, .keep_failed = true});
  EXPECT_THAT(All(), ElementsAre(3, 4, 5, 6));
  Prune({.older_than_ms = INT64_MAX, .keep_best = 1});
  EXPECT_THAT(All(), ElementsAre(4, 6));
  // Trial 4 is the best of its task whatever the filter selects, so nothing of this run is removed.
  EXPECT_EQ(Prune({.which = {.run = "run"}, .keep_best = 1}).records, 0);
}

TEST_F(PruneTest, TheBestIsWhatCompilingWouldTake) {
  Record confirmed = Timed(21, 50);  // same config as trial 1
  confirmed.search = kConfirmation;
  Add(confirmed);
  Add(FailedRecord("run", 24, TrialOutcome::kWrongResult));  // same config as trial 4, the fastest
  Prune({.keep_best = 1});
  EXPECT_THAT(All(), ElementsAre(6, 21));
}

TEST_F(PruneTest, TheBestWithOtherCachesIsSparedToo) {
  Record cold = Timed(22, 1), network = Timed(23, 1);  // the others are warm
  cold.cache = CacheMode::kCold;
  network.cache = CacheMode::kNetwork;
  Add(cold);
  Add(network);
  Prune({.keep_best = 1});
  EXPECT_THAT(All(), ElementsAre(4, 6, 22, 23));
}

TEST_F(PruneTest, MayOnlyCount) {
  EXPECT_EQ(Prune({.keep_best = 1, .dry_run = true}).records, 4);
  EXPECT_EQ(Prune({.keep_best = 1, .dry_run = true}).records, 4);
  EXPECT_THAT(All(), SizeIs(6));
}

TEST(DefaultRecordsPath, FollowsTheEnvironment) {
  std::map<std::string, std::string> variables;
  const auto environment = [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  EXPECT_FALSE(DefaultRecordsPath(environment).ok());
  variables["HOME"] = "/home/me";
  EXPECT_EQ(DefaultRecordsPath(environment).value_or(""), "/home/me/.local/share/attune/records.db");
  variables["XDG_DATA_HOME"] = "/data";
  EXPECT_EQ(DefaultRecordsPath(environment).value_or(""), "/data/attune/records.db");
  variables["ATTUNE_RECORDS"] = "mine.db";
  EXPECT_EQ(DefaultRecordsPath(environment).value_or(""), "mine.db");
}

}  // namespace
}  // namespace attune
