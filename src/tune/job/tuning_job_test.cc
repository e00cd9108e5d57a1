// The stages of a tuning job, what it records, and when it stops.
#include "tune/job/tuning_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compile/compile.h"
#include "tune/cost_model/cost_model.h"
#include "tune/job/tuning_job_for_test.h"

namespace attune {
namespace {

using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using enum StageKind;

TEST_F(TuningJobTest, StagesComeInOrder) {
  const auto job = Make(Options());
  EXPECT_THAT(Finish(*job), MatchesRegex("pk(sbctl)(sbctl)+sBC+UVMNf"));
  EXPECT_FALSE(job->Next().has_value());
  EXPECT_FALSE(job->Run({}).ok());
}

TEST_F(TuningJobTest, AStageDoesItsOwnWorkAndNoOther) {
  const auto job = Make(Options());
  EXPECT_THAT(machine_.built, IsEmpty());
  while (!IsFinal(*job)) {
    const size_t built = machine_.built.size(), checked = machine_.checked.size(),
                 measured = machine_.measured.size(), kept = Records().size(),
                 granted = machine_.grants.size();
    const std::string stage = Step(*job);
    SCOPED_TRACE(stage);
    EXPECT_EQ(machine_.built.size() > built, stage == Name(kBuild));
    EXPECT_EQ(machine_.checked.size() > checked, stage == Name(kCheck));
    EXPECT_EQ(machine_.measured.size() > measured, stage == Name(kTime));
    EXPECT_EQ(Records().size() > kept, stage == Name(kTime));
    EXPECT_EQ(machine_.grants.size() > granted, stage == Name(kTime) || stage == Name(kCalibrate));
  }
}

TEST_F(TuningJobTest, StagesSayWhatTheyNeed) {
  TuningOptions options = Options();
  options.builders = 3;
  machine_.check_seconds = 0.125;
  const auto job = Make(options);
  const std::string device = DeviceKey(SampleRun("run").device);
  bool is_first = true;
  while (const std::optional<JobStage> stage = job->Next()) {
    SCOPED_TRACE(stage->name);
    ASSERT_EQ(stage->needs.size(), 1);
    const size_t granted = machine_.grants.size();
    const double begin = machine_.now;
    Step(*job);
    const bool is_exclusive = stage->NeedsExclusively(device);
    EXPECT_EQ(stage->needs[0].key, is_exclusive ? device : kProcessorsKey);
    EXPECT_EQ(stage->needs[0].amount, is_exclusive ? 2 : 3);
    if (machine_.grants.size() > granted) EXPECT_TRUE(is_exclusive);
    EXPECT_GT(stage->memory_bytes, 0);
    EXPECT_GE(stage->seconds.high, stage->seconds.median);
    EXPECT_GE(stage->seconds.median, stage->seconds.low);
    // The predictions for these stages are learned from earlier ones.
    const bool is_learned =
        stage->name == Name(kBuild) || stage->name == Name(kCheck) || stage->name == Name(kTime);
    if (!is_first && is_learned) EXPECT_NEAR(stage->seconds.median, machine_.now - begin, 1e-9);
    if (stage->name == Name(kLearn)) is_first = false;
  }
}

TEST_F(TuningJobTest, WhileAStageRunsTheOneAfterItIsKnown) {
  const auto job = Make(Options());
  RunUntil(*job, kTime);
  std::set<std::string> seen;
  machine_.before_measuring = [&] { seen.insert(job->Next()->name); };
  Step(*job);
  EXPECT_THAT(seen, ::testing::ElementsAre(Name(kLearn)));
}

// An hour between any two stages changes nothing, and does not count as time of the job.
TEST_F(TuningJobTest, WaitingForAGrantCostsNothing) {
  TuningOptions options = Options();
  options.trials = 0;
  options.seconds = 60;
  const auto run = [&](const std::string& id, double waiting) {
    records_ = MustOpen(folder_ / id);
    machine_.measured.clear();
    machine_.times.clear();
    networks_.clear();
    const auto job = Make(options, id);
    while (job->Next().has_value()) {
      machine_.now += waiting;
      Step(*job);
    }
    std::vector<std::string> records;
    for (const Record& r : Records(id))
      records.push_back(absl::StrCat(r.task, ToString(r.strategy, r.config), r.timing.seconds, r.search));
    return std::pair(records, job->Summary().elapsed_seconds);
  };
  const auto [records, seconds] = run("at once", 0);
  const auto [waited_records, waited_seconds] = run("with an hour between", 3600);
  EXPECT_GT(records.size(), 20);
  EXPECT_EQ(records, waited_records);
  EXPECT_NEAR(seconds, waited_seconds, 1e-6);
}

TEST_F(TuningJobTest, TheFirstTrialOfATaskIsItsDefault) {
  const auto job = Make(Options());
  Finish(*job);
  for (const TuningTask& task : tasks_) EXPECT_EQ(Of(task, machine_.measured).at(0), DefaultOf(task));
}

TEST_F(TuningJobTest, ATrialIsARecordAtOnce) {
  machine_.before_measuring = [&] { EXPECT_EQ(Records().size(), machine_.measured.size()); };
  TuningOptions options = Options();
  options.cache = CacheMode::kWarm;
  const auto job = Make(options);
  RunUntilFinal(*job);
  const std::vector<Record> records = Records();
  ASSERT_EQ(records.size(), 20);
  for (size_t i = 0; i < records.size(); ++i) {
    const Record& r = records[i];
    const FakeMachine::Asked& asked = machine_.measured.at(i);
    EXPECT_EQ(r.task, asked.task);
    EXPECT_EQ(r.flops, 1e6);
    EXPECT_EQ((Candidate{r.strategy, r.config}), asked.candidate);
    EXPECT_EQ(r.strategy_version, FindStrategy(r.strategy)->version);
    EXPECT_EQ(r.device, SampleRun("run").device);
    EXPECT_EQ(r.threads, 2);
    EXPECT_EQ(r.outcome, TrialOutcome::kOk);
    const TuningTask& task = r.task == tasks_[0].text ? tasks_[0] : tasks_[1];
    EXPECT_NEAR(r.timing.seconds, FakeMachine::HashedSeconds(task, asked.candidate), 1e-12);
    EXPECT_NEAR(r.timing.low, 0.99 * r.timing.seconds, 1e-12);
    EXPECT_NEAR(r.timing.high, 1.01 * r.timing.seconds, 1e-12);
    EXPECT_EQ(r.timing.repetitions, 100);
    EXPECT_EQ(r.reason, "");
    EXPECT_EQ(r.run, "run");
    EXPECT_EQ(r.trial, static_cast<int64_t>(i));
    EXPECT_EQ(r.search, "annealing");
    EXPECT_EQ(r.compiler_version, kCompilerVersion);
    EXPECT_EQ(machine_.code.at(r.code_digest).candidate, asked.candidate);
    EXPECT_EQ(r.cache, CacheMode::kWarm);
    EXPECT_GT(r.time_ms, i == 0 ? 1'000'000 : records[i - 1].time_ms);
    EXPECT_EQ(r.build_seconds, machine_.build_seconds);
    EXPECT_EQ(r.measure_seconds, machine_.measure_seconds);
    EXPECT_EQ(asked.options.threads, 2);
    EXPECT_EQ(asked.options.cache, CacheMode::kWarm);
  }
}

TEST_F(TuningJobTest, ARunThatHasEndedIsInTheDatabase) {
  const auto job = Make(Options());
  EXPECT_EQ(RunOf().state, RunState::kRunning);
  Finish(*job);
  const TuningRun run = RunOf();
  EXPECT_EQ(run.state, RunState::kFinished);
  EXPECT_EQ(run.end_ms, machine_.WallMillis());
  EXPECT_EQ(run.untuned_seconds, 0.02);
  EXPECT_EQ(run.tuned_seconds, 0.01);
  const auto stages = nlohmann::json::parse(run.stage_seconds);
  const TuningSummary summary = job->Summary();
  EXPECT_EQ(stages.get<decltype(summary.stage_seconds)>(), summary.stage_seconds);
  EXPECT_EQ(stages["time"], 20 * machine_.measure_seconds);
  EXPECT_EQ(stages["build"], 20 * machine_.build_seconds);
  EXPECT_GT(stages["confirm_time"], 0);
  EXPECT_EQ(summary.untuned_seconds, 0.02);
  EXPECT_EQ(summary.tuned_seconds, 0.01);
}

TEST_F(TuningJobTest, StopsByTrials) {
  TuningOptions options = Options();
  options.trials = 19;
  const auto job = Make(options);
  RunUntilFinal(*job);
  EXPECT_EQ(job->Summary().trials, 19);
  EXPECT_EQ(Records().size(), 19);
}

TEST_F(TuningJobTest, StopsByTrialsOfEachTask) {
  TuningOptions options = Options();
  options.trials = 0;
  options.trials_per_task = 7;
  const auto job = Make(options);
  RunUntilFinal(*job);
  for (const TaskSummary& task : job->Summary().tasks) EXPECT_EQ(task.trials, 7) << task.description;
  EXPECT_EQ(Records().size(), 14);
}

// Some of the time is left for the last phase.
TEST_F(TuningJobTest, StopsByTime) {
  TuningOptions options = Options();
  options.trials = 0;
  options.seconds = 120;
  const auto job = Make(options);
  double last_batch = 0;
  while (!IsFinal(*job)) {
    if (IsNext(*job, kBuild)) last_batch = machine_.now - 1000;
    Step(*job);
  }
  EXPECT_GT(last_batch, 60);
  EXPECT_LT(last_batch, 120);
  EXPECT_GT(machine_.now - 1000, 80);
  Finish(*job);
  EXPECT_LT(machine_.now - 1000, 130);
}

TEST_F(TuningJobTest, StopsWhereNothingMoreIsHopedFor) {
  machine_.seconds = [](const auto&, const auto&, int) { return 1.1 * kBound; };
  TuningOptions options = Options();
  options.trials = 0;
  options.patience = 0;
  const auto job = Make(options);
  int stages = 0;
  while (!IsFinal(*job) && ++stages < 20'000) Step(*job);
  EXPECT_TRUE(IsFinal(*job));
  EXPECT_LT(job->Summary().trials, ConfigSpace::Create(tasks_[0], target_)->size());
}

TEST_F(TuningJobTest, LeavesATaskAloneThatDoesNotGetFaster) {
  machine_.seconds = [&](const TuningTask& task, const Candidate& candidate, int) {
    return IsDefault(task, candidate) ? 1e-3 : 2e-3;
  };
  TuningOptions options = Options();
  options.trials = 0;
  options.patience = 8;
  const auto job = Make(options);
  RunUntilFinal(*job);
  for (const TaskSummary& task : job->Summary().tasks) {
    EXPECT_GT(task.trials, options.patience);
    EXPECT_LE(task.trials, options.patience + options.batch);
  }
}

TEST_F(TuningJobTest, StopsWhereAllWasTried) {
  tasks_ = {MakeTask(kReluTask)};
  tasks_[0].uses = 1;
  TuningOptions options = Options();
  options.trials = 10'000;
  options.patience = 0;
  const auto job = Make(options);
  RunUntilFinal(*job);
  auto space = ConfigSpace::Create(tasks_[0], target_);
  ASSERT_TRUE(space.ok()) << space.status();
  int64_t valid = 0;
  for (int64_t i = 0; i < space->size(); ++i) valid += space->IsValid(space->At(i)) ? 1 : 0;
  EXPECT_EQ(static_cast<int64_t>(Records().size()), valid);
}

TEST_F(TuningJobTest, WhereNothingCanBeMeasuredItSaysWhy) {
  for (auto* const outcome : {&machine_.check, &machine_.run, &machine_.build}) {
    machine_.check = machine_.run =
        machine_.build = [](const auto&, const auto&) { return TrialOutcome::kOk; };
    *outcome = [](const auto&, const auto&) { return TrialOutcome::kRetry; };
    const auto job = Make(Options());
    RunUntil(*job, kTime);
    EXPECT_THAT(std::string(job->Run({}).message()),
                MatchesRegex("nothing can be measured here: (checking|running|building): retry"));
    EXPECT_THAT(Records(), IsEmpty());
  }
}

// If measuring itself fails, this costs neither a candidate nor a trial.
TEST_F(TuningJobTest, WhatCannotBeMeasuredNowIsMeasuredLater) {
  std::map<std::string, int> asked;
  machine_.run = [&](const TuningTask& task, const Candidate& candidate) {
    const bool fails =
        asked[FakeMachine::Asked{task.text, candidate}.name()]++ < 2 && CandidateHash()(candidate) % 3 == 0;
    return fails ? TrialOutcome::kRetry : TrialOutcome::kOk;
  };
  const auto job = Make(Options());
  RunUntilFinal(*job);
  const std::vector<FakeMachine::Asked> with_failures = machine_.measured;
  EXPECT_EQ(job->Summary().trials, 20);
  EXPECT_EQ(Records().size(), 20);
  std::set<std::string> tried;
  for (const auto& one : with_failures) tried.insert(one.name());
  EXPECT_EQ(tried.size(), 20);
  EXPECT_GT(with_failures.size(), 20);
}

TEST_F(TuningJobTest, WhoeverStopsItWaitsForOneMeasurementAtMost) {
  const auto job = Make(Options());
  machine_.before_measuring = [&] {
    if (machine_.measured.size() == 7) job->Cancel();
  };
  EXPECT_THAT(Finish(*job), MatchesRegex("pk(sbctl)+sbctf"));
  EXPECT_EQ(machine_.measured.size(), 8);
  EXPECT_EQ(Records().size(), 8);
  EXPECT_EQ(job->Summary().trials, 8);
  EXPECT_THAT(networks_, IsEmpty());
  const TuningRun run = RunOf();
  EXPECT_EQ(run.state, RunState::kInterrupted);
  EXPECT_EQ(run.end_ms, machine_.WallMillis());
  EXPECT_EQ(run.tuned_seconds, 0);
  for (const auto& [task, candidate] : job->Best()) EXPECT_NE(candidate, defaults_[task]);
}

TEST_F(TuningJobTest, CanBeStoppedBeforeAnyStage) {
  const auto stages_before = {0, 1, 2, 3, 4, 5};
  for (const int count : stages_before) {
    const std::string run = absl::StrCat("run", count);
    const auto job = Make(Options(), run);
    for (int i = 0; i < count; ++i) Step(*job);
    job->Cancel();
    EXPECT_EQ(Finish(*job), "f");
    EXPECT_THAT(Records(run), IsEmpty());
    const TuningSummary summary = job->Summary();
    EXPECT_EQ(summary.trials, 0);
    EXPECT_THAT(summary.curve, IsEmpty());
    EXPECT_EQ(RunOf(run).state, RunState::kInterrupted);
  }
}

TEST_F(TuningJobTest, CanBeStoppedWhileItConfirms) {
  const auto job = Make(Options());
  RunUntil(*job, kConfirmTime);
  const size_t measured = machine_.measured.size();
  machine_.before_measuring = [&] { job->Cancel(); };
  EXPECT_EQ(Finish(*job), "Cf");
  EXPECT_EQ(machine_.measured.size(), measured + 1);
  EXPECT_THAT(networks_, IsEmpty());
  EXPECT_EQ(RunOf().state, RunState::kInterrupted);
}

// For each search strategy, with and without a model.
TEST_F(TuningJobTest, SameSeedSameTrials) {
  for (const SearchStrategyInfo& search : AllSearchStrategies()) {
    SCOPED_TRACE(search.name);
    const auto trials = [&](const std::string& run, uint64_t seed) {
      machine_.measured.clear();
      records_ = MustOpen(folder_ / (std::string(search.name) + run));
      if (search.uses_model) model_ = MakeBoostedTrees();
      TuningOptions options = Options();
      options.search = search.name;
      options.seed = seed;
      options.trials = 14;
      Finish(*Make(options, run));
      return machine_.measured;
    };
    const std::vector<FakeMachine::Asked> first = trials("first", 3);
    EXPECT_EQ(first, trials("second", 3));
    if (search.name != "grid") EXPECT_NE(first, trials("third", 4));
    model_ = nullptr;
  }
}

TEST_F(TuningJobTest, TheCurveNeverRises) {
  const auto job = Make(Options());
  Finish(*job);
  const std::vector<CurvePoint> curve = job->Summary().curve;
  ASSERT_GT(curve.size(), 3);
  for (size_t i = 0; i < curve.size(); ++i) {
    EXPECT_TRUE(std::isfinite(curve[i].network_seconds));
    if (i == 0) continue;
    EXPECT_GE(curve[i].elapsed_seconds, curve[i - 1].elapsed_seconds);
    EXPECT_GE(curve[i].trials, curve[i - 1].trials);
    EXPECT_LE(curve[i].network_seconds, curve[i - 1].network_seconds);
  }
  EXPECT_LT(curve.back().network_seconds, curve.front().network_seconds);
}

TEST_F(TuningJobTest, RefusesASearchThatThereIsNot) {
  TuningOptions options = Options();
  options.search = "luck";
  const auto job = TuningJob::Create(target_, options, SampleRun("run"), Tools());
  EXPECT_THAT(std::string(job.status().message()), ::testing::HasSubstr("luck"));
}

}  // namespace
}  // namespace attune
