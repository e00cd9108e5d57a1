#include "jobs/schedule_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/testing/manual_clock.h"
#include "base/testing/temporary_folder.h"
#include "jobs/jobs_file.h"
#include "jobs/runner_worker.h"
#include "jobs/schedule_summary.h"
#include "jobs/sql_job_store.h"

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

  absl::StatusOr<int64_t> Start(int host) override {
    runners_[++num_started_].host = host;
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
        events.back().what = RunnerLost{"signal 9", may_be_jobs_fault_};
    }
    for (const RunnerEvent& event : events)
      if (std::holds_alternative<RunnerLost>(event.what)) runners_.erase(event.runner);
    return events;
  }

  void End(int64_t runner) override { runners_.erase(runner); }

  // The share of stages in which the runner dies.
  void Die(double rate, bool opening = true, bool may_be_jobs_fault = true) {
    death_rate_ = rate;
    dies_opening_ = opening;
    may_be_jobs_fault_ = may_be_jobs_fault;
  }
  const std::vector<RunStage>& commands() const { return commands_; }
  size_t num_runners() const { return runners_.size(); }
  // The stages that run now for jobs that measure, by the names of their stages.
  int64_t num_running(const std::string& stage) const {
    return std::ranges::count_if(runners_, [&](const auto& entry) {
      const Runner& runner = entry.second;
      return runner.ends.has_value() && runner.is_open && Stage(runner, runner.position).name == stage;
    });
  }
  std::set<int> hosts() const {
    std::set<int> hosts;
    for (const auto& [number, runner] : runners_) hosts.insert(runner.host);
    return hosts;
  }

 private:
  struct Runner {
    int host = 0;
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
  bool dies_opening_ = true, may_be_jobs_fault_ = true;
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
    auto opened = SqlJobStore::Open(folder_ / "jobs.db");
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
    ScheduleDriver driver(std::move(schedule), {.strategy = FindSchedulingStrategy(strategy)}, *store_,
                          runners, clock_);
    driver.AddHost(host_);
    const absl::Status status = driver.Run(Cancellation());
    EXPECT_TRUE(status.ok()) << status;
    EXPECT_TRUE(driver.Finish().ok());
    return driver.schedule();
  }

  const testing::TemporaryFolder folder_;
  ManualClock clock_;
  std::unique_ptr<SqlJobStore> store_;
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
    ScheduleDriver driver(Begin(), {.strategy = FindSchedulingStrategy("predictive")}, *store_, runners,
                          clock_);
    driver.AddHost(host_);
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
  ScheduleDriver driver(Begin(), {.strategy = FindSchedulingStrategy("sequential")}, *store_, runners,
                        clock_);
  driver.AddHost(host_);
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
  const auto other = SqlJobStore::Open(folder_ / "jobs.db");
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

// A schedule whose jobs and hosts come and go.
class EndlessScheduleTest : public ScheduleDriverTest {
 protected:
  EndlessScheduleTest() { Open(); }

  // Goes on from the store.
  void Open() {
    driver_.reset();
    runners_.emplace(clock_);
    auto schedule = store_->ResumeOrBeginEndless("server");
    ASSERT_TRUE(schedule.ok()) << schedule.status();
    schedule_ = schedule->id;
    driver_.emplace(*std::move(schedule),
                    ScheduleDriverOptions{.strategy = FindSchedulingStrategy("predictive"),
                                          .is_endless = true,
                                          .slots_of = [](const JobSpec& job) -> std::vector<std::string> {
                                            if (job.owner.empty()) return {};
                                            return {job.owner};
                                          }},
                    *store_, *runners_, clock_);
    auto unfinished = store_->Jobs(schedule_, {.state = JobState::kUnfinished, .with_parts = true});
    ASSERT_TRUE(unfinished.ok()) << unfinished.status();
    for (auto& [number, job] : *unfinished) driver_->Add(number, job);
  }

  std::map<size_t, JobRecord> Submit(const std::string& submission, const std::string& on = "",
                                     const std::string& owner = "", const std::string& text = kJobs) {
    const auto file = ParseJobsFile(text, "jobs.yaml", folder_.path());
    std::vector<JobRecord> jobs;
    for (const JobSpec& spec : file->jobs) {
      jobs.emplace_back().spec = spec;
      jobs.back().spec.on = on;
      jobs.back().spec.owner = owner;
    }
    const auto added = store_->AddJobs(schedule_, {{.key = submission, .jobs = jobs}});
    EXPECT_TRUE(added.ok()) << added.status();
    for (auto& [number, job] : added->front())
      if (!driver_->jobs().contains(number)) driver_->Add(number, job);
    return added->front();
  }

  void Step(int times = 1) {
    for (int i = 0; i < times; ++i) {
      const absl::Status status = driver_->Step(1);
      ASSERT_TRUE(status.ok()) << status;
    }
  }
  // Until all jobs are over.
  void Finish() {
    for (int i = 0; i < 10'000 && !driver_->jobs().empty(); ++i) Step();
    EXPECT_TRUE(driver_->jobs().empty());
  }

  std::map<size_t, JobRecord> Stored() {
    auto jobs = store_->Jobs(schedule_, {});
    EXPECT_TRUE(jobs.ok()) << jobs.status();
    return *std::move(jobs);
  }
  void ExpectAllDone(size_t count) {
    const auto jobs = Stored();
    EXPECT_EQ(jobs.size(), count);
    for (const auto& [number, job] : jobs) EXPECT_EQ(job.state, JobState::kDone) << job.error;
  }

  std::string schedule_;
  std::optional<FakeRunners> runners_;
  std::optional<ScheduleDriver> driver_;
};

// A host of two processors, none of which measures.
LocalHost ComputingHost() {
  LocalHost host;
  host.device = TwoProcessors();
  host.numbers = host.building = host.device.usable;
  host.resources.processors = 2;
  return host;
}

TEST_F(EndlessScheduleTest, JobsWaitForHostsAndDevices) {
  Submit("first", "desk");
  Step();
  EXPECT_THAT(driver_->WaitsFor(1), HasSubstr("no host can ever grant"));
  driver_->AddHost(ComputingHost(), "one");
  Step(100);
  // They have built, and wait for a device.
  EXPECT_THAT(driver_->WaitsFor(1), HasSubstr("elsewhere/desk"));
  EXPECT_EQ(driver_->jobs().size(), 3);
  driver_->AddDevice({"desk", "id"});
  Finish();
  ExpectAllDone(3);
}

TEST_F(EndlessScheduleTest, ADeviceElsewhereMeasuresForOneJobAtATime) {
  driver_->AddHost(ComputingHost());
  driver_->AddDevice({"desk"});
  const int second = driver_->AddDevice({"desk"});
  Submit("first", "desk");
  int64_t most = 0;
  bool removed = false;
  for (int i = 0; i < 10'000 && !driver_->jobs().empty(); ++i) {
    Step();
    const int64_t measuring = runners_->num_running("time");
    EXPECT_LE(measuring, 2);
    most = std::max(most, measuring);
    // It may be gone at any time, in use or not.
    if (most == 2 && !std::exchange(removed, true)) driver_->RemoveDevice(second);
  }
  EXPECT_EQ(most, 2);
  ExpectAllDone(3);
}

TEST_F(EndlessScheduleTest, StagesThatWaitForADeviceElsewhereHoldNoProcessors) {
  driver_->AddHost(ComputingHost());
  driver_->AddDevice({"desk"});
  Submit("first", "desk");
  Finish();
  int64_t shared = 0, none = 0;
  for (const RunStage& run : runners_->commands()) {
    shared += run.lease == StageLease::kShared ? 1 : 0;
    none += run.lease == StageLease::kNone ? 1 : 0;
  }
  EXPECT_EQ(none, 45);  // as many as measure
  EXPECT_EQ(shared + none, static_cast<int64_t>(runners_->commands().size()));
}

TEST_F(EndlessScheduleTest, JobsGoOnElsewhereWhenTheirHostIsGone) {
  const int first = driver_->AddHost(ComputingHost(), "first");
  driver_->AddDevice({"desk"});
  Submit("first", "desk");
  Step(20);
  EXPECT_EQ(runners_->hosts(), std::set<int>({first}));
  ASSERT_TRUE(driver_->RemoveHost(first).ok());
  EXPECT_EQ(runners_->num_runners(), 0);
  Step(5);
  const int second = driver_->AddHost(ComputingHost(), "second");
  Step(5);
  EXPECT_EQ(runners_->hosts(), std::set<int>({second}));
  Finish();
  ExpectAllDone(3);
  const auto stages = store_->Stages(schedule_, 1, INT64_MAX);
  ASSERT_TRUE(stages.ok()) << stages.status();
  // Each stage is done once, on the host that its runner was on.
  int64_t done = 0;
  std::string place;
  for (const StageRecord& stage : *stages) {
    if (stage.stage.name == kOpenStage) place = stage.place;
    EXPECT_EQ(stage.place, place);
    done += stage.stage.name != kOpenStage && stage.outcome == StageOutcome::kDone ? 1 : 0;
  }
  EXPECT_EQ(done, 40);
}

// Nobody is submitted once the second host is there, and the first one's processor is held beyond the test's
// end, so that only a job that moves can go on.
TEST_F(EndlessScheduleTest, AJobLeavesAHostThatIsBusyForOneThatIsIdle) {
  LocalHost host = ComputingHost();
  host.resources.processors = 1;
  host.numbers = host.building = {0};
  host.resources.slots["ann"] = kAnyAmount;
  driver_->Use(*FindSchedulingStrategy("priority"));
  driver_->AddHost(host, "first");
  constexpr char kShort[] = "jobs: [{kind: mock, repeat: 10, stages: [{name: build, seconds: 1}]}]";
  const size_t moved = Submit("short", "", "ann", kShort).begin()->first;
  Step(4);
  constexpr char kLong[] = "jobs: [{kind: mock, priority: 1000, stages: [{name: long, seconds: 1000}]}]";
  const size_t holds = Submit("long", "", "ann", kLong).begin()->first;
  const auto is_long = [&] {
    return driver_->jobs().at(holds).runs() && driver_->jobs().at(holds).stage().name == "long";
  };
  for (int i = 0; i < 10 && !is_long(); ++i) Step();
  ASSERT_TRUE(is_long());
  const JobManager& job = driver_->jobs().at(moved);
  ASSERT_TRUE(job.runner() != 0 && !job.runs());
  // It may not be on a host that is not its owner's.
  LocalHost others = host;
  others.resources.slots.clear();
  driver_->AddHost(others, "other");
  Step(20);
  ASSERT_TRUE(job.runner() != 0 && !job.runs());
  driver_->AddHost(host, "second");
  for (int i = 0; i < 50 && driver_->jobs().contains(moved); ++i) Step();
  EXPECT_FALSE(driver_->jobs().contains(moved));
  EXPECT_TRUE(is_long());
  const auto stages = store_->Stages(schedule_, moved, INT64_MAX);
  ASSERT_TRUE(stages.ok()) << stages.status();
  std::map<std::string, int> done, opened;  // stages, by place
  for (const StageRecord& stage : *stages) {
    EXPECT_EQ(stage.outcome, StageOutcome::kDone);
    ++(stage.stage.name == kOpenStage ? opened : done)[stage.place];
  }
  EXPECT_EQ(opened, (std::map<std::string, int>{{"first", 1}, {"second", 1}}));
  EXPECT_GT(done["first"], 0);
  EXPECT_EQ(done["first"] + done["second"], 10);
}

TEST_F(EndlessScheduleTest, GoesOnFromTheStore) {
  driver_->AddHost(ComputingHost());
  driver_->AddDevice({"desk"});
  Submit("first", "desk");
  Step(30);
  const double before = driver_->Now();
  Open();
  EXPECT_NEAR(driver_->Now(), before, 5);
  driver_->AddHost(ComputingHost());
  driver_->AddDevice({"desk"});
  Finish();
  ExpectAllDone(3);
}

TEST_F(EndlessScheduleTest, ASubmissionCountsOnce) {
  const auto first = Submit("one"), again = Submit("one"), other = Submit("two");
  ASSERT_EQ(first.size(), 3);
  EXPECT_EQ(first.begin()->second.spec.id, "a-1");
  EXPECT_EQ(first.begin()->first, again.begin()->first);
  EXPECT_EQ(other.begin()->second.spec.id, "a-4");
  EXPECT_EQ(Stored().size(), 6);
}

TEST_F(EndlessScheduleTest, JobsAreCancelledAnywhere) {
  // Before there is a host, while they wait, and while they run.
  Submit("first", "desk");
  driver_->AddDevice({"desk"});
  ASSERT_TRUE(driver_->Cancel(1).ok());
  EXPECT_EQ(Stored().at(1).state, JobState::kCancelled);
  driver_->AddHost(ComputingHost());
  const auto runs = [&](size_t number) { return driver_->jobs().at(number).runs(); };
  for (int i = 0; i < 100 && !runs(2) && !runs(3); ++i) Step();
  EXPECT_TRUE(runs(2) || runs(3));
  ASSERT_TRUE(driver_->Cancel(2).ok());
  ASSERT_TRUE(driver_->Cancel(3).ok());
  Finish();
  for (const auto& [number, job] : Stored()) EXPECT_EQ(job.state, JobState::kCancelled);
  EXPECT_EQ(runners_->num_runners(), 0);
  EXPECT_TRUE(driver_->Cancel(3).ok());   // is over
  EXPECT_TRUE(driver_->Cancel(77).ok());  // is none
}

TEST_F(EndlessScheduleTest, JobsFailForAReasonAnywhere) {
  // Before there is a host, and while they wait or run.
  Submit("first", "desk");
  driver_->AddDevice({"desk"});
  ASSERT_TRUE(driver_->Fail(1, "too much").ok());
  driver_->AddHost(ComputingHost());
  const auto runs = [&](size_t number) { return driver_->jobs().at(number).runs(); };
  for (int i = 0; i < 100 && !runs(2) && !runs(3); ++i) Step();
  const size_t running = runs(2) ? 2 : 3;
  ASSERT_TRUE(driver_->Fail(2, "too much").ok());
  ASSERT_TRUE(driver_->Fail(3, "too much").ok());
  Finish();
  for (const auto& [number, job] : Stored()) {
    EXPECT_EQ(job.state, JobState::kFailed);
    EXPECT_EQ(job.error, "too much");
  }
  EXPECT_EQ(store_->Stages(schedule_, running, 1)->at(0).reason, "too much");
  EXPECT_EQ(runners_->num_runners(), 0);
  EXPECT_TRUE(driver_->Fail(3, "again").ok());  // is over
  EXPECT_EQ(Stored().at(3).error, "too much");
}

TEST_F(EndlessScheduleTest, HostsTakeTheJobsOfTheirOwnersAlone) {
  LocalHost host = ComputingHost();
  host.resources.slots["ann"] = 100;
  driver_->AddHost(host);
  driver_->AddDevice({"desk"});
  Submit("first", "desk", "bob");
  Submit("second", "desk", "ann");
  Step(2000);
  const auto jobs = Stored();
  for (const auto& [number, job] : jobs)
    EXPECT_EQ(job.state, job.spec.owner == "ann" ? JobState::kDone : JobState::kUnfinished);
}

TEST_F(EndlessScheduleTest, OwnersDoNotTakeOneAnothersRoom) {
  LocalHost ann = ComputingHost(), bob = ComputingHost();
  ann.resources.slots["ann"] = bob.resources.slots["bob"] = 100;
  const int of_ann = driver_->AddHost(ann);
  driver_->AddHost(bob);
  driver_->AddDevice({"desk"});
  for (int i = 0; i < 10; ++i) Submit(absl::StrCat("ann ", i), "desk", "ann");
  Step(10);
  EXPECT_LE(runners_->num_runners(), 16);  // as many as may begin on one host
  const auto jobs = Submit("bob", "desk", "bob");
  Step(10);
  EXPECT_NE(driver_->jobs().at(jobs.begin()->first).runner(), 0);
  // Jobs whose only host is gone say so.
  ASSERT_TRUE(driver_->RemoveHost(of_ann).ok());
  Step();
  EXPECT_THAT(driver_->WaitsFor(1), HasSubstr("\"ann\""));
  driver_->AddHost(ann);
  Finish();
  ExpectAllDone(33);
}

TEST_F(EndlessScheduleTest, WhatIsNotTheJobsFaultDoesNotCount) {
  runners_->Die(1, /*opening=*/true, /*may_be_jobs_fault=*/false);
  driver_->AddHost(ComputingHost());
  driver_->AddDevice({"desk"});
  Submit("first", "desk");
  Step(100);
  EXPECT_EQ(driver_->jobs().size(), 3);
  runners_->Die(0);
  Finish();
  ExpectAllDone(3);
}

TEST_F(EndlessScheduleTest, FilesAreThoseOfTheLatestStage) {
  JobRecord job;
  job.spec.id = job.spec.kind = "mock";
  job.spec.settings = {{"stages", nlohmann::json::array()}};
  job.files = {{"in/model", std::string(64, 'a'), 7}};
  const auto added = store_->AddJobs(schedule_, {{.key = "one", .jobs = {job}}});
  ASSERT_TRUE(added.ok()) << added.status();
  JobRecord stored = added->front().begin()->second;
  EXPECT_EQ(stored.files, job.files);
  EXPECT_GT(stored.submitted_ms, 0);
  stored.files.push_back({"out/result", std::string(64, 'b'), 9});
  stored.state = JobState::kDone;
  StageRecord stage;
  stage.place = "somewhere";
  stage.reason = "\xFF is no text";
  ASSERT_TRUE(store_->EndStage(schedule_, 1, stored, stage).ok());
  EXPECT_EQ(Stored().at(1).files, stored.files);
  EXPECT_GT(Stored().at(1).ended_ms, 0);
  EXPECT_EQ(store_->Stages(schedule_, 1, 10)->at(0).place, "somewhere");
}

class SplitScheduleTest : public EndlessScheduleTest {
 protected:
  // A whole job and its parts, which differ only in that.
  void SubmitSplit(int parts, const std::string& owner = "") {
    const auto file = ParseJobsFile(kJobs, "jobs.yaml", folder_.path());
    std::vector<JobRecord> jobs;
    for (int part = 0; part <= parts; ++part) {
      JobRecord& job = jobs.emplace_back();
      job.spec = file->jobs.front();
      job.spec.owner = owner;
      job.spec.on = "desk";
      job.spec.parts = parts;
      job.spec.part = part;
    }
    const auto added =
        store_->AddJobs(schedule_, {{.key = absl::StrCat("split", ++num_split_), .jobs = jobs}});
    ASSERT_TRUE(added.ok()) << added.status();
    for (const auto& [number, job] : added->front()) driver_->Add(number, job);
  }
  std::map<size_t, JobRecord> PartsOf(size_t whole) {
    auto parts = store_->Jobs(schedule_, {.parts_of = whole});
    EXPECT_TRUE(parts.ok()) << parts.status();
    return *std::move(parts);
  }
  // How many stages of the job are done, without those that open it.
  int64_t Done(size_t number) {
    const auto stages = store_->Stages(schedule_, number, INT64_MAX);
    EXPECT_TRUE(stages.ok()) << stages.status();
    return std::ranges::count_if(*stages, [](const StageRecord& stage) {
      return stage.stage.name != kOpenStage && stage.outcome == StageOutcome::kDone;
    });
  }
  double FirstAsked(size_t number) {
    const auto stages = store_->Stages(schedule_, number, INT64_MAX);
    return stages.ok() && !stages->empty() ? stages->front().asked : 0;
  }
  double LastEnd(size_t number) {
    const auto stages = store_->Stages(schedule_, number, INT64_MAX);
    return stages.ok() && !stages->empty() ? stages->back().end : 0;
  }
  int num_split_ = 0;
};

TEST_F(SplitScheduleTest, PartsRunAtTheSameTimeOnDifferentHostsAndTheWholeFollows) {
  driver_->AddHost(ComputingHost(), "one");
  driver_->AddHost(ComputingHost(), "two");
  for (int i = 0; i < 2; ++i) driver_->AddDevice({"desk"});
  SubmitSplit(2);
  int64_t most = 0;
  std::set<int> hosts;
  for (int i = 0; i < 10'000 && !driver_->jobs().empty(); ++i) {
    Step();
    most = std::max(most, runners_->num_running("time"));
    hosts.merge(runners_->hosts());
  }
  EXPECT_EQ(most, 2);
  EXPECT_EQ(hosts.size(), 2);
  ExpectAllDone(1);  // parts are not listed
  const auto parts = PartsOf(1);
  ASSERT_EQ(parts.size(), 2);
  EXPECT_EQ(parts.at(2).spec.id, "a-1.part1");
  EXPECT_EQ(parts.at(3).spec.id, "a-1.part2");
  for (const auto& [number, part] : parts) {
    EXPECT_EQ(part.state, JobState::kDone) << part.error;
    EXPECT_LE(LastEnd(number), FirstAsked(1));
  }
}

TEST_F(SplitScheduleTest, RunnersDieAmidPartsAndNothingIsLostOrDoneTwice) {
  runners_->Die(0.2, /*opening=*/true, /*may_be_jobs_fault=*/false);
  driver_->AddHost(ComputingHost(), "one");
  const int second = driver_->AddHost(ComputingHost(), "two");
  for (int i = 0; i < 2; ++i) driver_->AddDevice({"desk"});
  SubmitSplit(2);
  Step(20);
  ASSERT_TRUE(driver_->RemoveHost(second).ok());
  Step(20);
  // The server starts again, too.
  Open();
  runners_->Die(0.2, /*opening=*/true, /*may_be_jobs_fault=*/false);
  driver_->AddHost(ComputingHost(), "three");
  for (int i = 0; i < 2; ++i) driver_->AddDevice({"desk"});
  Finish();
  ExpectAllDone(1);
  for (const size_t number : {1, 2, 3}) EXPECT_EQ(Done(number), 40);
}

TEST_F(SplitScheduleTest, APartThatFailsTakesTheOthersWithIt) {
  driver_->AddHost(ComputingHost());
  for (int i = 0; i < 3; ++i) driver_->AddDevice({"desk"});
  SubmitSplit(3);
  Step(20);
  ASSERT_TRUE(driver_->Cancel(3).ok());
  Finish();
  EXPECT_EQ(Stored().at(1).state, JobState::kFailed);
  EXPECT_THAT(Stored().at(1).error, HasSubstr("was cancelled"));
  for (const auto& [number, part] : PartsOf(1)) EXPECT_EQ(part.state, JobState::kCancelled);
}

TEST_F(SplitScheduleTest, CancellingTheWholeCancelsItsParts) {
  driver_->AddHost(ComputingHost());
  driver_->AddDevice({"desk"});
  SubmitSplit(2);
  Step(20);
  ASSERT_TRUE(driver_->Cancel(1).ok());
  Finish();
  EXPECT_EQ(Stored().at(1).state, JobState::kCancelled);
  for (const auto& [number, part] : PartsOf(1)) EXPECT_EQ(part.state, JobState::kCancelled);
  EXPECT_EQ(runners_->num_runners(), 0);
}

TEST_F(SplitScheduleTest, AWholeThatFailsSaysWhyAndCancelsItsParts) {
  driver_->AddHost(ComputingHost());
  driver_->AddDevice({"desk"});
  SubmitSplit(2);
  Step(20);
  ASSERT_TRUE(driver_->Fail(1, "too much").ok());
  Finish();
  EXPECT_EQ(Stored().at(1).state, JobState::kFailed);
  EXPECT_EQ(Stored().at(1).error, "too much");
  for (const auto& [number, part] : PartsOf(1)) EXPECT_EQ(part.state, JobState::kCancelled);
}

}  // namespace
}  // namespace attune
