// The stages of a tuning job, what it writes down, and when it stops.
#include "tune/job/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "compile/compile.h"
#include "tune/cost_model/cost_model.h"
#include "tune/job/job_for_test.h"

namespace attune {
namespace {

using testing::IsEmpty;
using testing::MatchesRegex;
using enum StageKind;

TEST_F(TuningJobTest, StagesComeInOrder) {
  const auto job = Make(Options());
  EXPECT_THAT(Finish(*job), MatchesRegex("p(sbmu)(sbmu)+sf+"));
  EXPECT_FALSE(job->Next().has_value());
  EXPECT_FALSE(job->RunNext().ok());
}

TEST_F(TuningJobTest, AStageDoesItsOwnWorkAndNoOther) {
  const auto job = Make(Options());
  EXPECT_THAT(machine_.built, IsEmpty());
  while (const std::optional<JobStage> stage = job->Next()) {
    SCOPED_TRACE(Name(stage->kind));
    const size_t built = machine_.built.size(), measured = machine_.measured.size(), kept = Records().size();
    EXPECT_EQ(Step(*job), stage->kind);
    if (stage->kind == kFinalize) continue;
    EXPECT_EQ(machine_.built.size() > built, stage->kind == kBuild);
    EXPECT_EQ(machine_.measured.size() > measured, stage->kind == kMeasure);
    EXPECT_EQ(Records().size() > kept, stage->kind == kMeasure);
  }
}

TEST_F(TuningJobTest, StagesSayWhatTheyNeed) {
  TuningOptions options = Options();
  options.builders = 3;
  const auto job = Make(options);
  for (bool is_first = true; const std::optional<JobStage> stage = job->Next();) {
    SCOPED_TRACE(Name(stage->kind));
    const StageNeeds& needs = stage->needs;
    EXPECT_EQ(needs.device, stage->kind == kMeasure || stage->kind == kFinalize);
    EXPECT_EQ(needs.processors, needs.device ? 2 : 3);
    EXPECT_GT(needs.memory_bytes, 0);
    EXPECT_TRUE(needs.seconds > 0 || !is_first);
    const size_t built = machine_.built.size(), measured = machine_.measured.size();
    Step(*job);
    if (!is_first && stage->kind == kBuild) {
      EXPECT_NEAR(needs.seconds, machine_.build_seconds * static_cast<double>(machine_.built.size() - built),
                  1e-9);
    }
    if (!is_first && stage->kind == kMeasure) {
      EXPECT_NEAR(needs.seconds,
                  machine_.measure_seconds * static_cast<double>(machine_.measured.size() - measured), 1e-9);
    }
    if (stage->kind == kUpdate) is_first = false;
  }
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
  RunUntil(*job, kFinalize);
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
    EXPECT_EQ(machine_.code.at(r.code_digest), asked.candidate);
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
  EXPECT_EQ(run.end_ms, static_cast<int64_t>(1e3 * machine_.now));
  EXPECT_EQ(run.untuned_seconds, 0.02);
  EXPECT_EQ(run.tuned_seconds, 0.01);
  const auto stages = nlohmann::json::parse(run.stage_seconds);
  const TuningSummary summary = job->Summary();
  EXPECT_EQ(stages.get<decltype(summary.stage_seconds)>(), summary.stage_seconds);
  EXPECT_EQ(stages["measure"], 20 * machine_.measure_seconds);
  EXPECT_EQ(stages["build"], 20 * machine_.build_seconds);
  EXPECT_GT(stages["finalize"], 0);
  EXPECT_EQ(summary.untuned_seconds, 0.02);
  EXPECT_EQ(summary.tuned_seconds, 0.01);
}

TEST_F(TuningJobTest, StopsByTrials) {
  TuningOptions options = Options();
  options.trials = 19;
  const auto job = Make(options);
  RunUntil(*job, kFinalize);
  EXPECT_EQ(job->Summary().trials, 19);
  EXPECT_EQ(Records().size(), 19);
}

TEST_F(TuningJobTest, StopsByTrialsOfEachTask) {
  TuningOptions options = Options();
  options.trials = 0;
  options.trials_per_task = 7;
  const auto job = Make(options);
  RunUntil(*job, kFinalize);
  for (const TaskSummary& task : job->Summary().tasks) EXPECT_EQ(task.trials, 7) << task.description;
  EXPECT_EQ(Records().size(), 14);
}

// Some of it is left for what comes at the end.
TEST_F(TuningJobTest, StopsByTime) {
  TuningOptions options = Options();
  options.trials = 0;
  options.seconds = 60;
  const auto job = Make(options);
  double last_batch = 0;
  while (job->Next()->kind != kFinalize) {
    if (job->Next()->kind == kBuild) last_batch = machine_.now - 1000;
    Step(*job);
  }
  EXPECT_GT(last_batch, 30);
  EXPECT_LT(last_batch, 60);
  EXPECT_GT(machine_.now - 1000, 45);
  Finish(*job);
  EXPECT_LT(machine_.now - 1000, 70);
}

TEST_F(TuningJobTest, StopsWhereNothingMoreIsHopedFor) {
  machine_.seconds = [](const auto&, const auto&, int) { return 1.1 * kBound; };
  TuningOptions options = Options();
  options.trials = 0;
  options.patience = 0;
  const auto job = Make(options);
  int stages = 0;
  while (job->Next()->kind != kFinalize && ++stages < 20'000) Step(*job);
  EXPECT_EQ(job->Next()->kind, kFinalize);
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
  RunUntil(*job, kFinalize);
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
  RunUntil(*job, kFinalize);
  auto space = ConfigSpace::Create(tasks_[0], target_);
  ASSERT_TRUE(space.ok()) << space.status();
  int64_t valid = 0;
  for (int64_t i = 0; i < space->size(); ++i) valid += space->IsValid(space->At(i)) ? 1 : 0;
  EXPECT_EQ(static_cast<int64_t>(Records().size()), valid);
}

TEST_F(TuningJobTest, WhereNothingCanBeMeasuredItSaysWhy) {
  machine_.run = [](const auto&, const auto&) { return TrialOutcome::kRetry; };
  const auto job = Make(Options());
  RunUntil(*job, kMeasure);
  EXPECT_EQ(job->RunNext().message(), "nothing can be measured here: running: retry");
  EXPECT_THAT(Records(), IsEmpty());
}

TEST_F(TuningJobTest, WhoeverStopsItWaitsForOneMeasurementAtMost) {
  const auto job = Make(Options());
  machine_.before_measuring = [&] {
    if (machine_.measured.size() == 7) job->Stop();
  };
  EXPECT_THAT(Finish(*job), MatchesRegex("p(sbmu)+sbmf"));
  EXPECT_EQ(machine_.measured.size(), 8);
  EXPECT_EQ(Records().size(), 8);
  EXPECT_EQ(job->Summary().trials, 8);
  EXPECT_THAT(networks_, IsEmpty());
  const TuningRun run = RunOf();
  EXPECT_EQ(run.state, RunState::kInterrupted);
  EXPECT_EQ(run.end_ms, static_cast<int64_t>(1e3 * machine_.now));
  EXPECT_EQ(run.tuned_seconds, 0);
  for (const auto& [task, candidate] : job->Best()) EXPECT_NE(candidate, defaults_[task]);
}

TEST_F(TuningJobTest, CanBeStoppedBeforeAnyStage) {
  const auto stages_before = {0, 1, 2, 3};
  for (const int count : stages_before) {
    const std::string run = absl::StrCat("run", count);
    const auto job = Make(Options(), run);
    for (int i = 0; i < count; ++i) Step(*job);
    job->Stop();
    EXPECT_EQ(Finish(*job), count == 0 ? "pf" : "f");
    EXPECT_THAT(Records(run), IsEmpty());
    const TuningSummary summary = job->Summary();
    EXPECT_EQ(summary.trials, 0);
    EXPECT_THAT(summary.curve, IsEmpty());
    EXPECT_EQ(RunOf(run).state, RunState::kInterrupted);
  }
}

TEST_F(TuningJobTest, CanBeStoppedWhileItConfirms) {
  const auto job = Make(Options());
  RunUntil(*job, kFinalize);
  const size_t measured = machine_.measured.size();
  machine_.before_measuring = [&] { job->Stop(); };
  EXPECT_EQ(Finish(*job), "ff");
  EXPECT_EQ(machine_.measured.size(), measured + 1);
  EXPECT_THAT(networks_, IsEmpty());
  EXPECT_EQ(RunOf().state, RunState::kInterrupted);
}

// Under each search strategy, with and without a model.
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
  const auto job = TuningJob::Create(tasks_, {0, 0}, target_, options, SampleRun("run"), Tools());
  EXPECT_THAT(std::string(job.status().message()), testing::HasSubstr("luck"));
}

}  // namespace
}  // namespace attune
