// Schedules whose runners are made up, in time that passes as they say.
#ifndef ATTUNE_WORK_DRIVER_SCHEDULE_DRIVER_FOR_TEST_H_
#define ATTUNE_WORK_DRIVER_SCHEDULE_DRIVER_FOR_TEST_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/random.h"
#include "base/testing/manual_clock.h"
#include "base/testing/temporary_folder.h"
#include "kinds/kinds.h"
#include "work/driver/schedule_driver.h"
#include "work/file/jobs_file.h"
#include "work/store/sql_job_store.h"

namespace attune {

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
  // Counts the running stages with this name of jobs that measure.
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

inline constexpr char kJobs[] = R"(
jobs:
  - id: a
    kind: mock
    repeat: 20
    stages: &stages [{name: build, seconds: 1}, {name: time, seconds: 2, device: true}]
  - {id: b, kind: mock, repeat: 15, stages: *stages}
  - {id: c, kind: mock, repeat: 10, stages: *stages}
)";

// Two processors with cores and caches of their own.
inline DeviceInfo TwoProcessors() {
  DeviceInfo device;
  device.fingerprint = "two";
  device.usable = {0, 1};
  device.processors = {{0, 0, 0}, {1, 1, 1}};
  return device;
}

class ScheduleDriverTest : public ::testing::Test {
 protected:
  ScheduleDriverTest() {
    auto opened = SqlJobStore::Open(folder_ / "jobs.db", AllJobKinds());
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
    ScheduleDriver driver(std::move(schedule),
                          {.strategy = FindSchedulingStrategy(strategy), .kinds = AllJobKinds()}, *store_,
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

// A schedule whose jobs and hosts come and go.
class EndlessScheduleTest : public ScheduleDriverTest {
 protected:
  EndlessScheduleTest() { Open(); }

  // Resumes the schedule from the store.
  void Open(const std::string& strategy = "predictive") {
    driver_.reset();
    runners_.emplace(clock_);
    auto schedule = store_->ResumeOrBeginEndless("server");
    ASSERT_TRUE(schedule.ok()) << schedule.status();
    schedule_ = schedule->id;
    driver_.emplace(*std::move(schedule),
                    ScheduleDriverOptions{.strategy = FindSchedulingStrategy(strategy),
                                          .kinds = AllJobKinds(),
                                          .is_endless = true,
                                          .slots_of = [](const JobSpec& job) -> std::vector<std::string> {
                                            if (job.owner.empty()) return {};
                                            return {job.owner};
                                          },
                                          .on_over =
                                              [this](const JobRecord& job) {
                                                EXPECT_NE(job.state, JobState::kUnfinished);
                                                ++over_[job.spec.id];
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
  std::map<std::string, int> over_;  // how often a job was reported to be over, by its id
  std::optional<FakeRunners> runners_;
  std::optional<ScheduleDriver> driver_;
};

// A host of two processors, none of which measures.
inline LocalHost ComputingHost() {
  LocalHost host;
  host.device = TwoProcessors();
  host.numbers = host.building = host.device.usable;
  host.resources.processors = 2;
  return host;
}

}  // namespace attune

#endif  // ATTUNE_WORK_DRIVER_SCHEDULE_DRIVER_FOR_TEST_H_
