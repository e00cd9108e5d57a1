#include "jobs/schedule_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/testing/manual_clock.h"
#include "base/testing/temporary_folder.h"
#include "jobs/jobs_file.h"
#include "jobs/runner_worker.h"
#include "jobs/schedule_summary.h"
#include "jobs/sqlite_job_store.h"

namespace attune {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;

// Runners in which time passes without anybody waiting: a stage of a mock job takes its median.
class FakeRunners final : public Runners {
 public:
  explicit FakeRunners(ManualClock& clock) : clock_(clock) {}

  absl::StatusOr<int64_t> Start() override {
    runners_[++num_started_];
    return num_started_;
  }

  void Send(int64_t number, const RunnerCommand& command) override {
    const auto found = runners_.find(number);
    if (found == runners_.end()) return;
    Runner& runner = found->second;
    if (const auto* assign = std::get_if<AssignJob>(&command)) {
      // A position beyond 0 shows that the manager keeps it.
      runner.place = assign->place;
      runner.settings = assign->spec.settings;
      runner.position = assign->place.position - 1;
    }
    if (const auto* run = std::get_if<RunStage>(&command)) {
      commands_.push_back(*run);
      const bool opens = runner.position == runner.place.position - 1 && !runner.is_open;
      const double seconds = opens ? 0.1 : Stage(runner, runner.position).seconds.median;
      runner.ends = clock_.Now() + seconds;
    }
    if (std::holds_alternative<CancelStage>(command)) runner.ends = clock_.Now();
  }

  std::vector<RunnerEvent> Await(double seconds) override {
    double next = clock_.Now() + seconds;
    for (const auto& [number, runner] : runners_)
      if (runner.ends.has_value()) next = std::min(next, *runner.ends);
    clock_.Advance(std::max(0.0, next - clock_.Now()));
    std::vector<RunnerEvent> events;
    for (auto& [number, runner] : runners_) {
      if (!runner.ends.has_value() || *runner.ends > clock_.Now()) continue;
      runner.ends.reset();
      const bool opens = !runner.is_open;
      events.push_back({number, End(runner)});
      if ((!opens || dies_opening_) && random_.Uniform() < death_rate_)
        events.back().what = RunnerLost{"signal 9"};
    }
    for (const RunnerEvent& event : events)
      if (std::holds_alternative<RunnerLost>(event.what)) runners_.erase(event.runner);
    return events;
  }

  void End(int64_t runner) override { runners_.erase(runner); }

  // The share of stages in which the runner dies.
  void Die(double rate, bool opening = true) {
    death_rate_ = rate;
    dies_opening_ = opening;
  }
  const std::vector<RunStage>& commands() const { return commands_; }
  size_t num_runners() const { return runners_.size(); }

 private:
  struct Runner {
    JobPlace place;
    nlohmann::json settings;
    int64_t position = -1;
    bool is_open = false;
    std::optional<double> ends;
  };

  static JobStage Stage(const Runner& runner, int64_t position) {
    const auto& stages = runner.settings.at("stages");
    const auto& stage = stages.at(static_cast<size_t>(position) % stages.size());
    const double seconds = stage.at("seconds");
    JobStage made{
        .name = stage.at("name"), .needs = {}, .memory_bytes = 0, .seconds = {seconds, seconds, seconds}};
    const bool measures = stage.contains("device");
    made.needs.push_back({measures ? runner.place.devices.front() : kProcessorsKey, 1, measures});
    return made;
  }

  static RunnerReport End(Runner& runner) {
    runner.is_open = true;
    ++runner.position;
    const auto total = static_cast<int64_t>(runner.settings.at("stages").size()) *
                       runner.settings.value("repeat", int64_t{1});
    RunnerStageEnded ended;
    ended.seconds = 1;
    ended.progress = absl::StrCat(runner.position, " of ", total);
    if (runner.position < total) {
      ended.next = Stage(runner, runner.position);
      ended.remaining = static_cast<double>(total - runner.position);
    } else {
      ended.result = "{}";
    }
    return ended;
  }

  ManualClock& clock_;
  std::map<int64_t, Runner> runners_;
  std::vector<RunStage> commands_;
  Random random_{1};
  double death_rate_ = 0;
  bool dies_opening_ = true;
  int64_t num_started_ = 0;
};

constexpr char kJobs[] = R"(
jobs:
  - id: a
    kind: mock
    repeat: 20
    stages: &stages [{name: build, seconds: 1}, {name: time, seconds: 2, device: true}]
  - {id: b, kind: mock, repeat: 15, stages: *stages}
  - {id: c, kind: mock, repeat: 10, stages: *stages}
)";

// Two processors with cores and caches of their own.
DeviceInfo TwoProcessors() {
  DeviceInfo device;
  device.fingerprint = "two";
  device.usable = {0, 1};
  device.processors = {{0, 0, 0}, {1, 1, 1}};
  return device;
}

class ScheduleDriverTest : public ::testing::Test {
 protected:
  ScheduleDriverTest() {
    auto opened = SqliteJobStore::Open(folder_ / "jobs.db");
    EXPECT_TRUE(opened.ok()) << opened.status();
    store_ = *std::move(opened);
    auto host = DescribeHost(TwoProcessors(), {});
    EXPECT_TRUE(host.ok()) << host.status();
    host_ = *std::move(host);
  }

  ScheduleRecord Begin(const std::string& text = kJobs) {
    const auto file = ParseJobsFile(text, "jobs.yaml", folder_.path());
    EXPECT_TRUE(file.ok()) << file.status();
    jobs_ = file->jobs;
    auto schedule = store_->ResumeOrBegin("key", jobs_, "two");
    EXPECT_TRUE(schedule.ok()) << schedule.status();
    return *std::move(schedule);
  }

  ScheduleRecord RunWith(const std::string& strategy, Runners& runners, ScheduleRecord schedule) {
    ScheduleDriver driver(std::move(schedule), {.strategy = FindSchedulingStrategy(strategy), .host = host_},
                          *store_, runners, clock_);
    const absl::Status status = driver.Run(Cancellation());
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_TRUE(driver.Finish().ok());
    return driver.schedule();
  }

  const testing::TemporaryFolder folder_;
  ManualClock clock_;
  std::unique_ptr<SqliteJobStore> store_;
  LocalHost host_;
  std::vector<JobSpec> jobs_;
};

// The number of done stages by job and name.
std::map<std::string, int> Done(const ScheduleRecord& schedule) {
  std::map<std::string, int> done;
  for (const StageRecord& stage : schedule.stages)
    done[stage.job + " " + stage.stage.name] += stage.outcome == StageOutcome::kDone ? 1 : 0;
  return done;
}

TEST_F(ScheduleDriverTest, InterleavesAndNeverMeasuresTwiceAtOnce) {
  FakeRunners runners(clock_);
  const ScheduleRecord schedule = RunWith("predictive", runners, Begin());
  EXPECT_THAT(schedule.jobs, Each(Field(&JobRecord::state, JobState::kDone)));
  const auto done = Done(schedule);
  EXPECT_EQ(done.at("a time"), 20);
  EXPECT_EQ(done.at("c build"), 10);
  double last = 0;
  for (const StageRecord& stage : schedule.stages) {
    if (stage.stage.name != "time") continue;
    EXPECT_GE(stage.start, last);
    last = stage.end;
    EXPECT_THAT(stage.processors, ElementsAre(1));
  }
  // The device is the bottleneck: 45 stages of 2 s, and what precedes the first.
  EXPECT_LT(Summarize(schedule).makespan, 90 * 1.05);
  EXPECT_EQ(runners.num_runners(), 0u);
}

TEST_F(ScheduleDriverTest, RunsOneJobAfterTheOther) {
  FakeRunners runners(clock_);
  const ScheduleRecord schedule = RunWith("sequential", runners, Begin());
  EXPECT_GT(Summarize(schedule).makespan, 45 * 3);
}

TEST_F(ScheduleDriverTest, UncoordinatedStagesHaveNoLease) {
  FakeRunners runners(clock_);
  RunWith("uncoordinated", runners, Begin());
  EXPECT_THAT(runners.commands(), Each(Field(&RunStage::lease, StageLease::kNone)));
}

TEST_F(ScheduleDriverTest, JobsGoOnInOtherRunnersWhenSomeDie) {
  FakeRunners runners(clock_);
  runners.Die(0.1);
  const ScheduleRecord schedule = RunWith("first_come", runners, Begin());
  EXPECT_THAT(schedule.jobs, Each(Field(&JobRecord::state, JobState::kDone)));
  const auto done = Done(schedule);
  EXPECT_EQ(done.at("a time"), 20);
  EXPECT_EQ(done.at("b build"), 15);
  EXPECT_GT(done.at("a open"), 1);
  EXPECT_TRUE(std::ranges::any_of(
      schedule.stages, [](const StageRecord& stage) { return stage.outcome == StageOutcome::kLost; }));
}

TEST_F(ScheduleDriverTest, AJobThatKillsItsRunnersFails) {
  FakeRunners runners(clock_);
  runners.Die(1);
  const ScheduleRecord schedule = RunWith("first_come", runners, Begin());
  EXPECT_THAT(schedule.jobs, Each(Field(&JobRecord::state, JobState::kFailed)));
  EXPECT_THAT(schedule.jobs.front().error, HasSubstr("its runner ended 5 times in stage \"open\": signal 9"));
}

TEST_F(ScheduleDriverTest, AJobThatOpensWellAndAlwaysDiesThenFails) {
  FakeRunners runners(clock_);
  runners.Die(1, /*opening=*/false);
  const ScheduleRecord schedule = RunWith("first_come", runners, Begin());
  EXPECT_THAT(schedule.jobs, Each(Field(&JobRecord::state, JobState::kFailed)));
  EXPECT_THAT(schedule.jobs.front().error, HasSubstr("its runner ended 5 times in stage \"build\""));
}

TEST_F(ScheduleDriverTest, GoesOnAfterItWasStoppedAnywhere) {
  for (int turn = 0;; ++turn) {
    FakeRunners runners(clock_);
    ScheduleDriver driver(Begin(), {.strategy = FindSchedulingStrategy("predictive"), .host = host_}, *store_,
                          runners, clock_);
    Cancellation cancellation;
    int left = 7 + turn;
    const absl::Status status = driver.Run(cancellation, [&] {
      if (--left == 0) cancellation.Cancel();
    });
    ASSERT_LT(turn, 500);
    if (!status.ok()) {
      EXPECT_TRUE(absl::IsCancelled(status)) << status;
      continue;
    }
    EXPECT_GT(turn, 3);
    const auto done = Done(driver.schedule());
    EXPECT_EQ(done.at("a time"), 20);
    EXPECT_EQ(done.at("b time"), 15);
    EXPECT_EQ(done.at("c build"), 10);
    EXPECT_TRUE(driver.Finish().ok());
    break;
  }
  // Finished, so that the same jobs begin anew.
  EXPECT_TRUE(Begin().stages.empty());
}

TEST_F(ScheduleDriverTest, StrategiesChangeWhileJobsRun) {
  FakeRunners runners(clock_);
  ScheduleDriver driver(Begin(), {.strategy = FindSchedulingStrategy("sequential"), .host = host_}, *store_,
                        runners, clock_);
  int turn = 0;
  const absl::Status status = driver.Run(Cancellation(), [&] {
    constexpr int kTurns = 10;
    if (++turn % kTurns != 0) return;
    const auto all = AllSchedulingStrategies();
    driver.Use(all[static_cast<size_t>(turn / kTurns) % all.size()]);
  });
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(Done(driver.schedule()).at("a time"), 20);
}

TEST_F(ScheduleDriverTest, OneProcessAloneRunsASchedule) {
  Begin();
  const auto other = SqliteJobStore::Open(folder_ / "jobs.db");
  ASSERT_TRUE(other.ok()) << other.status();
  const auto again = (*other)->ResumeOrBegin("key", jobs_, "two");
  EXPECT_THAT(std::string(again.status().message()), HasSubstr("are being run by another process"));
}

TEST_F(ScheduleDriverTest, PastStagesCarryTheirLabels) {
  FakeRunners runners(clock_);
  RunWith("predictive", runners, Begin());
  const auto stages = store_->PastStages(10);
  ASSERT_TRUE(stages.ok()) << stages.status();
  EXPECT_EQ(stages->size(), 10u);
  EXPECT_EQ(stages->back().kind, "mock");
  EXPECT_EQ(stages->back().host, "two");
  EXPECT_NEAR(stages->back().seconds, 2, 0.2);
}

TEST_F(ScheduleDriverTest, WhatCanNeverBeGrantedIsRefusedBeforeAnythingStarts) {
  const auto check = [&](const std::string& jobs) {
    const auto file = ParseJobsFile("jobs: [" + jobs + "]", "jobs.yaml", "/");
    return file.ok() ? std::string(CheckJobs(file->jobs, host_).message())
                     : std::string(file.status().message());
  };
  EXPECT_EQ(check("{kind: mock, stages: [{name: s}]}"), "");
  EXPECT_THAT(
      check("{kind: mock, stages: [{name: s, processors: 2}]}"),
      HasSubstr("job \"mock\": no host can ever grant what its stage \"s\" needs: 2 of \"processors\""));
  EXPECT_THAT(check("{model: m.onnx, threads: 2}"), HasSubstr("2 of \"device/two\" for itself"));
  EXPECT_THAT(check("{kind: poem}"), HasSubstr("there is no kind \"poem\"; there are tuning, quantization"));
  EXPECT_THAT(check("{model: m.onnx, trails: 2}"),
              HasSubstr("job \"m\": trails: is no setting; there are batch"));
  EXPECT_THAT(check("{trials: 2}"), HasSubstr("model: is missing"));
  EXPECT_THAT(CheckJobs(TuningSpecs({"m\xFF.onnx"}), host_).message(), HasSubstr("is not text in UTF-8"));
}

}  // namespace
}  // namespace attune
