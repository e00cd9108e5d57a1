// Tests what a tuning job reuses from its own killed run and from earlier runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tune/job/tuning_job.h"
#include "tune/job/tuning_job_for_test.h"

namespace attune {
namespace {

using ::testing::Contains;
using ::testing::IsEmpty;
using ::testing::Not;
using enum StageKind;

class TuningJobResumeTest : public TuningJobTest {
 protected:
  // Runs a job for this many measurements and then drops it, as if its process had been killed.
  void RunAndKill(const TuningOptions& options, size_t measurements) {
    const auto job = Make(options);
    const size_t end = machine_.measured.size() + measurements;
    machine_.before_measuring = [&, end] {
      if (machine_.measured.size() + 1 >= end) job->Cancel();
    };
    while (machine_.measured.size() < end) Step(*job);
    machine_.before_measuring = [] {};
    EXPECT_EQ(RunOf().state, RunState::kRunning);
  }

  // The fastest candidate in a task's records; may be the baseline.
  Candidate FastestOf(const TuningTask& task, const std::string& run = "run") {
    std::optional<Record> fastest;
    for (const Record& record : Records(run)) {
      if (record.task != task.text || record.outcome != TrialOutcome::kOk) continue;
      if (!fastest || record.timing.seconds < fastest->timing.seconds) fastest = record;
    }
    EXPECT_TRUE(fastest.has_value());
    return {fastest->strategy, fastest->config};
  }

  // Every fourth candidate, except the baselines, fails in one of these ways.
  void LetSomeFail() {
    const auto kind = [this](const TuningTask& task, const Candidate& candidate) {
      return IsDefault(task, candidate) ? 0 : CandidateHash()(candidate) % 16;
    };
    machine_.build = [kind](const TuningTask& task, const Candidate& candidate) {
      const size_t k = kind(task, candidate);
      return k == 1 ? TrialOutcome::kBuildFailed : k == 2 ? TrialOutcome::kOutOfMemory : TrialOutcome::kOk;
    };
    machine_.run = [kind](const TuningTask& task, const Candidate& candidate) {
      const size_t k = kind(task, candidate);
      return k == 3 ? TrialOutcome::kCrashed : k == 4 ? TrialOutcome::kWrongResult : TrialOutcome::kOk;
    };
  }
};

TEST_F(TuningJobResumeTest, ARunThatWasKilledGoesOn) {
  for (const size_t killed_after : {1, 2, 3, 7, 11, 19}) {
    SCOPED_TRACE(killed_after);
    records_ = MustOpen(folder_ / absl::StrCat(killed_after, ".db"));
    RunAndKill(Options(), killed_after);
    ASSERT_EQ(Records().size(), killed_after);
    std::vector<std::set<Candidate>> before;
    for (const TuningTask& task : tasks_) {
      const std::vector<Candidate> known = Of(task, machine_.measured);
      before.emplace_back(known.begin(), known.end());
    }
    machine_.measured.clear();

    const auto job = Make(Options());
    RunUntilFinal(*job);
    // Only the baseline is measured again: all earlier measurements are scaled by its new time.
    EXPECT_EQ(Records().size(), std::max<size_t>(20, killed_after + tasks_.size()));
    EXPECT_EQ(job->Summary().trials, static_cast<int64_t>(Records().size()));
    for (size_t i = 0; i < tasks_.size(); ++i) {
      const std::vector<Candidate> measured = Of(tasks_[i], machine_.measured);
      ASSERT_FALSE(measured.empty());
      EXPECT_EQ(measured[0], DefaultOf(tasks_[i]));
      for (size_t j = 1; j < measured.size(); ++j) EXPECT_THAT(before[i], Not(Contains(measured[j])));
      const Candidate fastest = FastestOf(tasks_[i]);
      EXPECT_EQ(job->Best().contains(tasks_[i].text), fastest != measured[0]);
      if (fastest != measured[0]) EXPECT_EQ(job->Best()[tasks_[i].text], fastest);
    }
    Finish(*job);
    EXPECT_EQ(RunOf().state, RunState::kFinished);
    std::set<int64_t> trials;
    for (const Record& record : Records()) trials.insert(record.trial);
    EXPECT_GE(static_cast<int64_t>(trials.size()), job->Summary().trials);
    machine_.measured.clear();
  }
}

TEST_F(TuningJobResumeTest, TheTimeBeforeItWasKilledCounts) {
  TuningOptions options = Options();
  options.trials = 0;
  options.seconds = 80;
  RunAndKill(options, 20);
  machine_.now += 1e6;  // no process worked on the run
  const double begin = machine_.now;
  const auto job = Make(options);
  RunUntilFinal(*job);
  // There are two builder processes, so 12.5 s had passed.
  EXPECT_GT(machine_.now - begin, 80 - 12.5 - 40);
  EXPECT_LT(machine_.now - begin, 80 - 12.5);
  EXPECT_NEAR(job->Summary().elapsed_seconds, machine_.now - begin + 12.5, 1e-6);
}

TEST_F(TuningJobResumeTest, ARunThatHadAllItsTrialsFinishes) {
  RunAndKill(Options(), 20);
  const std::vector<FakeMachine::Asked> before = machine_.measured;
  machine_.measured.clear();
  const auto job = Make(Options());
  EXPECT_THAT(Finish(*job), ::testing::MatchesRegex("pksbctlsBC+UVMNf"));
  for (const auto& [task, candidate, options, is_interleaved] : machine_.measured) {
    EXPECT_THAT(before, Contains(FakeMachine::Asked{task, candidate}));
  }
  EXPECT_EQ(RunOf().state, RunState::kFinished);
  EXPECT_EQ(networks_.size(), 1);
}

TEST_F(TuningJobResumeTest, TakesOverWhatEarlierRunsFound) {
  const auto earlier = Make(Options(), "earlier");
  RunUntilFinal(*earlier);
  const std::vector<FakeMachine::Asked> before = machine_.measured;
  const TuningSummary known = earlier->Summary();
  machine_.measured.clear();

  const auto job = Make(Options());
  RunUntilFinal(*job);
  EXPECT_EQ(job->Summary().trials, 20);
  for (size_t i = 0; i < tasks_.size(); ++i) {
    EXPECT_EQ(job->Summary().tasks[i].transferred, known.tasks[i].trials);
    const std::vector<Candidate> measured = Of(tasks_[i], machine_.measured);
    EXPECT_EQ(measured.at(0), DefaultOf(tasks_[i]));
    const Candidate fastest = FastestOf(tasks_[i], "earlier");
    EXPECT_EQ(measured.at(fastest == measured[0] ? 0 : 1), fastest);
    const std::vector<Candidate> old = Of(tasks_[i], before);
    for (size_t j = 2; j < measured.size(); ++j) EXPECT_THAT(old, Not(Contains(measured[j])));
    EXPECT_LE(job->Summary().tasks[i].best_seconds, known.tasks[i].best_seconds * (1 + 1e-9));
  }
}

TEST_F(TuningJobResumeTest, StartsFromNothingIfItIsToldTo) {
  TuningOptions options = Options();
  options.transfer_from_runs = false;
  const auto trials = [&](const std::string& run) {
    machine_.measured.clear();
    const auto job = Make(options, run);
    RunUntilFinal(*job);
    for (const TaskSummary& task : job->Summary().tasks) EXPECT_EQ(task.transferred, 0);
    return machine_.measured;
  };
  const std::vector<FakeMachine::Asked> first = trials("earlier");
  EXPECT_EQ(trials("run"), first);
}

// The processor's clock may differ when the run is resumed.
TEST_F(TuningJobResumeTest, TimesBeforeItWasKilledAreSharesOfTheDefaults) {
  const TuningTask& task = tasks_[0];
  std::vector<Candidate> others;
  double clock = 1;
  machine_.seconds = [&](const TuningTask& t, const Candidate& candidate, int) {
    if (t.text != task.text || IsDefault(t, candidate)) return 2e-3 * clock;
    if (std::ranges::find(others, candidate) == others.end()) others.push_back(candidate);
    return candidate == others[0] ? 1e-3 * clock : 4e-3 * clock;
  };
  RunAndKill(Options(), 19);
  ASSERT_FALSE(others.empty());
  clock = 3;
  const auto job = Make(Options());
  Finish(*job);
  ASSERT_EQ(job->Best().count(task.text), 1);
  EXPECT_EQ(job->Best().at(task.text), others[0]);
  EXPECT_NEAR(job->Summary().tasks[0].best_seconds, 3e-3, 1e-6);
}

TEST_F(TuningJobResumeTest, WhatAKilledRunFoundIsConfirmedByTheNext) {
  const TuningTask& task = tasks_[0];
  std::vector<Candidate> others;
  machine_.seconds = [&](const TuningTask& t, const Candidate& candidate, int) {
    if (t.text != task.text || IsDefault(t, candidate)) return 2e-3;
    if (std::ranges::find(others, candidate) == others.end()) others.push_back(candidate);
    return candidate == others[0] ? 1e-3 : 4e-3;
  };
  Finish(*Make(Options(), "finished"));
  ASSERT_FALSE(others.empty());
  // The killed run finds a candidate that is faster than the one that the first run has confirmed.
  std::optional<Candidate> found;
  machine_.seconds = [&](const TuningTask& t, const Candidate& candidate, int) {
    if (t.text != task.text || IsDefault(t, candidate)) return 2e-3;
    if (!found && std::ranges::find(others, candidate) == others.end()) found = candidate;
    return candidate == others[0] ? 1e-3 : candidate == found ? 0.5e-3 : 4e-3;
  };
  RunAndKill(Options(), 19);
  ASSERT_TRUE(found.has_value());
  TuningOptions options = Options();
  options.trials = 4;
  const auto next = Make(options, "next");
  Finish(*next);
  ASSERT_EQ(next->Best().count(task.text), 1);
  EXPECT_EQ(next->Best().at(task.text), *found);
}

// If a config was measured more than once, its last time comes from the longest measurement.
TEST_F(TuningJobResumeTest, SelectionBiasIsNotTakenOver) {
  const TuningTask& task = tasks_[0];
  std::optional<Candidate> lucky;
  machine_.seconds = [&](const TuningTask& t, const Candidate& candidate, int nth) {
    if (t.text != task.text || IsDefault(t, candidate)) return 2e-3;
    if (!lucky) lucky = candidate;
    if (candidate == *lucky) return nth == 0 ? 1e-3 : 3e-3;
    return FakeMachine::HashedSeconds(t, candidate);
  };
  const auto earlier = Make(Options(), "earlier");
  Finish(*earlier);
  ASSERT_EQ(earlier->Best().count(task.text), 1);
  const Candidate best = earlier->Best().at(task.text);
  ASSERT_NE(best, *lucky);
  machine_.measured.clear();

  const auto job = Make(Options());
  Finish(*job);
  EXPECT_EQ(Of(task, machine_.measured).at(1), best);
  EXPECT_THAT(Of(task, machine_.measured), Not(Contains(*lucky)));
  EXPECT_LE(job->Summary().tasks[0].best_seconds, earlier->Summary().tasks[0].best_seconds * (1 + 1e-9));
}

TEST_F(TuningJobResumeTest, WhatFailedIsNeverTriedAgain) {
  LetSomeFail();
  std::multiset<FakeMachine::Asked> failed;
  for (const bool transfers : {true, false, true, false}) {
    TuningOptions options = Options();
    options.trials = 60;
    options.transfer_from_runs = transfers;
    options.cache = failed.size() % 2 == 0 ? CacheMode::kNetwork : CacheMode::kWarm;  // in any caches
    options.seed += failed.size();
    const std::string run = absl::StrCat("run", failed.size());
    const auto job = Make(options, run);
    RunUntilFinal(*job);
    int64_t failures = 0;
    for (const Record& record : Records(run)) {
      if (record.outcome == TrialOutcome::kOk) continue;
      ++failures;
      const Candidate candidate{record.strategy, record.config};
      failed.insert({record.task, candidate});
      const bool is_built =
          record.outcome == TrialOutcome::kCrashed || record.outcome == TrialOutcome::kWrongResult;
      EXPECT_EQ(record.reason, absl::StrCat(is_built ? "running: " : "building: ", Name(record.outcome)));
      EXPECT_EQ(record.timing.seconds, 0);
      EXPECT_EQ(record.code_digest.empty(), !is_built);
      EXPECT_EQ(record.measure_seconds, is_built ? machine_.measure_seconds : 0);
    }
    EXPECT_GT(failures, 2);
    const std::vector<TaskSummary> tasks = job->Summary().tasks;
    EXPECT_EQ(tasks[0].failed + tasks[1].failed, failures);
  }
  for (const FakeMachine::Asked& asked : failed) {
    EXPECT_EQ(failed.count(asked), 1);
    EXPECT_EQ(std::ranges::count(machine_.built, asked), 1);
  }
}

// For example, if no process can be started.
TEST_F(TuningJobResumeTest, WhatSaysNothingOfACandidateIsNoRecord) {
  machine_.run = [this](const TuningTask& task, const Candidate& candidate) {
    return IsDefault(task, candidate) ? TrialOutcome::kOk : TrialOutcome::kRetry;
  };
  const auto job = Make(Options());
  absl::Status status;
  while (status.ok() && job->Next().has_value()) status = job->Run({});
  EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("does not work any more: running: retry"));
  EXPECT_GT(machine_.measured.size(), 2);
  EXPECT_EQ(Records().size(), tasks_.size());
  EXPECT_THAT(job->Best(), IsEmpty());
  EXPECT_EQ(RunOf().state, RunState::kRunning);

  machine_.run = [](const auto&, const auto&) { return TrialOutcome::kOk; };
  const auto next = Make(Options(), "next");
  Finish(*next);
  EXPECT_EQ(next->Summary().tasks[0].transferred, 1);
  EXPECT_GE(Records("next").size(), 20);
}

// Records of another device, other threads or other caches.
TEST_F(TuningJobResumeTest, RecordsOfOtherMeasurementsAreNotTakenOver) {
  TuningOptions options = Options();
  options.cache = CacheMode::kCold;
  Finish(*Make(options, "cold"));
  std::vector<Record> others = Records("cold");
  for (Record& record : others) record.device = "another";
  ASSERT_TRUE(records_->Add(others).ok());
  for (Record& record : others) {
    record.device = SampleRun("run").device;
    record.threads = 1;
  }
  ASSERT_TRUE(records_->Add(others).ok());
  const auto job = Make(Options());
  Finish(*job);
  for (const TaskSummary& task : job->Summary().tasks) EXPECT_EQ(task.transferred, 0);
}

}  // namespace
}  // namespace attune
