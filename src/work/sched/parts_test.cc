// Jobs with parts that run at the same time, on the simulator's clock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "work/sched/priority_class.h"
#include "work/sched/scheduler.h"
#include "work/sched/simulation.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kDevice[] = "device/a";

// Hosts with a device each, and two processors that build.
std::vector<HostResources> HostsWithDevices(int count) {
  HostResources host = {.processors = 3, .keeps_device_processors = true, .devices = {{kDevice, {2}}}};
  return std::vector<HostResources>(static_cast<size_t>(count), host);
}

SimulatedStage Build(double seconds) {
  return {{"build", {{kProcessorsKey, 1, false}}, 0, {seconds, seconds, seconds}}, seconds};
}
SimulatedStage Time(double seconds) {
  return {{"time", {{kDevice, 1, true}}, 0, {seconds, seconds, seconds}}, seconds};
}
std::vector<SimulatedStage> Rounds(int count, double build, double time) {
  std::vector<SimulatedStage> stages;
  for (int i = 0; i < count; ++i) {
    stages.push_back(Build(build));
    stages.push_back(Time(time));
  }
  return stages;
}

// A tuning job with `rounds` rounds, and with the durations of resnet18 in results/scheduling.json: 200
// trials, that is 7 rounds. `parts` > 1: the rounds by turns in each part, and the end when all of them are
// over.
void AddTuningJob(std::vector<SimulatedJob>& jobs, const JobFacts& facts, int rounds, int parts) {
  constexpr double kOpen = 0.29, kPrepare = 1.50, kCalibrate = 0.26, kSelectAndBuild = 2.45 + 0.06,
                   kCheckAndTime = 5.76;
  const std::vector<SimulatedStage> begin = {Build(kOpen), Build(kPrepare), Time(kCalibrate)};
  const std::vector<SimulatedStage> end = {Build(1.08), Time(4.48),  Build(1.70), Time(8.94),
                                           Build(1.70), Time(13.05), Build(0.77)};
  SimulatedJob whole = {.facts = facts, .stages = begin};
  for (int part = 0; part < parts; ++part) {
    const int own = (rounds + part) / parts;
    const std::vector<SimulatedStage> searched = Rounds(own, kSelectAndBuild, kCheckAndTime);
    if (parts == 1) {
      whole.stages.insert(whole.stages.end(), searched.begin(), searched.end());
      continue;
    }
    SimulatedJob one = {.facts = facts, .stages = begin};
    one.facts.whole = facts.id;
    one.facts.id = absl::StrCat(facts.id, ".part", part + 1);
    one.stages.insert(one.stages.end(), searched.begin(), searched.end());
    whole.after.push_back(jobs.size());
    jobs.push_back(std::move(one));
  }
  // It measures the baselines and the best of each part again before it confirms.
  if (parts > 1) {
    whole.stages.push_back(Build(kSelectAndBuild));
    whole.stages.push_back(Time(kCheckAndTime));
  }
  whole.stages.insert(whole.stages.end(), end.begin(), end.end());
  jobs.push_back(std::move(whole));
}

double SecondsOfTuning(int rounds, int parts, int devices) {
  std::vector<SimulatedJob> jobs;
  AddTuningJob(jobs, {.id = "job"}, rounds, parts);
  const auto result = Simulate(jobs, HostsWithDevices(devices), *FindSchedulingStrategy("fair_share"));
  EXPECT_TRUE(result.ok()) << result.status();
  return result->makespan;
}

TEST(SplitJobs, OnTwoDevicesEndSooner) {
  // About ten minutes: 2,400 trials.
  constexpr int kRounds = 75;
  const double alone = SecondsOfTuning(kRounds, 1, 2), split = SecondsOfTuning(kRounds, 2, 2);
  RecordProperty("factor", absl::StrCat(alone / split));
  EXPECT_GE(alone / split, 1.7);
  EXPECT_GE(alone / SecondsOfTuning(kRounds, 4, 4), 2.8);
  // On one device, splitting gains nothing but what fills gaps, and loses little.
  EXPECT_LE(SecondsOfTuning(kRounds, 2, 1), 1.1 * alone);
}

TEST(SplitJobs, EndAfterTheirParts) {
  std::vector<SimulatedJob> jobs;
  AddTuningJob(jobs, {.id = "job"}, 4, 2);
  const auto result = Simulate(jobs, HostsWithDevices(2), *FindSchedulingStrategy("fair_share"));
  ASSERT_TRUE(result.ok()) << result.status();
  double parts_end = 0;
  for (const StageRun& run : result->runs)
    if (run.job < 2) parts_end = std::max(parts_end, run.end);
  for (const StageRun& run : result->runs)
    if (run.job == 2) EXPECT_GE(run.start, parts_end);
  jobs[0].after = {2};
  EXPECT_THAT(Simulate(jobs, HostsWithDevices(2), *FindSchedulingStrategy("fair_share")).status().message(),
              HasSubstr("waits for itself"));
}

// The seconds of devices that each owner has until `end`.
std::map<std::string, double> DeviceSeconds(const std::vector<SimulatedJob>& jobs,
                                            const SimulationResult& result, double end) {
  std::map<std::string, double> seconds;
  for (const StageRun& run : result.runs) {
    const SimulatedJob& job = jobs[run.job];
    if (job.stages[run.stage].stage.name != "time") continue;
    seconds[job.facts.owner] += std::max(0.0, std::min(run.end, end) - run.start);
  }
  return seconds;
}

TEST(SplitJobs, GiveTheirOwnerNoMoreThanHisShare) {
  constexpr int kDevices = 4;
  constexpr double kUntil = 600;
  for (const int parts : {1, 2, 8, 16}) {
    std::vector<SimulatedJob> jobs;
    // One owner with ten jobs of many parts and the highest class, one with jobs as they come.
    for (int i = 0; i < 10; ++i)
      AddTuningJob(jobs, {.id = absl::StrCat("a", i), .owner = "a", .priority = 1}, 400, parts);
    for (int i = 0; i < kDevices; ++i) AddTuningJob(jobs, {.id = absl::StrCat("b", i), .owner = "b"}, 400, 1);
    // Building is not scarce.
    std::vector<HostResources> hosts = HostsWithDevices(kDevices);
    hosts.push_back({.processors = 200});
    const auto result = Simulate(jobs, hosts, *FindSchedulingStrategy("fair_share"));
    ASSERT_TRUE(result.ok()) << result.status();
    const auto seconds = DeviceSeconds(jobs, *result, kUntil);
    const double share = seconds.at("a") / (seconds.at("a") + seconds.at("b"));
    // With one job each, each owner has as many stages; the rest is what building and calibrating take.
    EXPECT_NEAR(share, 0.5, 0.08) << parts << " parts";
  }
}

class PartsInTheScheduler : public ::testing::Test {
 protected:
  void Make(int devices) {
    for (const HostResources& host : HostsWithDevices(devices)) scheduler_.AddHost(host);
  }
  void Submit(const std::string& whole, int parts, int priority, const std::string& owner = "a") {
    for (int part = 1; part <= parts; ++part) {
      const auto job = scheduler_.Submit(
          {.id = absl::StrCat(whole, ".part", part), .owner = owner, .priority = priority, .whole = whole},
          {Time(10).stage, 10}, 0);
      ASSERT_TRUE(job.ok()) << job.status();
      whole_of_[*job] = whole;
    }
  }
  std::map<std::string, int> Granted() {
    std::map<std::string, int> granted;
    for (const StageStart& start : scheduler_.Decide(0)) ++granted[whole_of_.at(start.job)];
    return granted;
  }

  Scheduler scheduler_{*FindSchedulingStrategy("fair_share")};
  std::map<int64_t, std::string> whole_of_;
};

TEST_F(PartsInTheScheduler, AHigherClassHasMoreDevices) {
  Make(7);
  Submit("low", 7, -1);
  Submit("standard", 7, 0);
  Submit("high", 7, 1);
  EXPECT_THAT(Granted(), ElementsAre(::testing::Pair("high", 4), ::testing::Pair("low", 1),
                                     ::testing::Pair("standard", 2)));
}

TEST_F(PartsInTheScheduler, OneJobHasAllDevicesThatNobodyElseWants) {
  Make(7);
  Submit("low", 9, -1);
  EXPECT_THAT(Granted(), ElementsAre(::testing::Pair("low", 7)));
}

TEST_F(PartsInTheScheduler, OwnersComeBeforeClasses) {
  Make(8);
  Submit("high", 8, 1, "a");
  Submit("low", 8, -1, "b");
  EXPECT_THAT(Granted(), ElementsAre(::testing::Pair("high", 4), ::testing::Pair("low", 4)));
}

TEST_F(PartsInTheScheduler, AnOwnerWhoComesLateGetsHisShareAndNotTheWholePast) {
  Make(2);
  Submit("long", 2, 0, "a");
  ASSERT_EQ(Granted().at("long"), 2);
  // Both devices have been a's for a thousand rounds.
  for (double now = 10; now <= 10'000; now += 10) {
    for (const auto& [job, whole] : whole_of_)
      ASSERT_TRUE(scheduler_.Done(job, NextStage{Time(10).stage, 10}, now).ok());
    ASSERT_EQ(scheduler_.Decide(now).size(), 2);
  }
  Submit("new", 2, 0, "b");
  int rounds_of_a = 0;
  for (double now = 10'010; now <= 10'200; now += 10) {
    for (const auto& [job, whole] : whole_of_)
      if (scheduler_.is_running(job))
        ASSERT_TRUE(scheduler_.Done(job, NextStage{Time(10).stage, 10}, now).ok());
    for (const StageStart& start : scheduler_.Decide(now)) rounds_of_a += whole_of_.at(start.job) == "long";
  }
  EXPECT_NEAR(rounds_of_a, 20, 2);  // of 40
}

TEST(PriorityClasses, AreFoundByNameAndByNumber) {
  EXPECT_EQ(ClassOfPriority(-7).name, "low");
  EXPECT_EQ(ClassOfPriority(0).name, "standard");
  EXPECT_EQ(ClassOfPriority(99).name, "high");
  EXPECT_EQ(FindPriorityClass("high"), &ClassOfPriority(1));
  EXPECT_EQ(FindPriorityClass("royal"), nullptr);
  for (size_t i = 1; i < AllPriorityClasses().size(); ++i) {
    EXPECT_GT(AllPriorityClasses()[i].weight, AllPriorityClasses()[i - 1].weight);
    EXPECT_GT(AllPriorityClasses()[i].most_parts, AllPriorityClasses()[i - 1].most_parts);
  }
}

}  // namespace
}  // namespace attune
