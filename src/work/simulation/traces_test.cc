#include "work/simulation/traces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/quantile.h"
#include "base/random.h"
#include "work/report/schedule_json.h"
#include "work/sched/simulation.h"
#include "work/sched/strategy.h"
#include "work/simulation/strategy_comparison.h"

namespace attune {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const HostResources kHost = {.processors = 4, .devices = {{"device/a", {3}}}};

// Jobs whose stages take whole seconds, so that sums are exact.
std::vector<SimulatedJob> SomeJobs(int count) {
  Random random(7);
  std::vector<SimulatedJob> jobs;
  for (int i = 0; i < count; ++i) {
    SimulatedJob& job = jobs.emplace_back();
    job.facts = {.id = absl::StrCat("job", i), .owner = i % 2 == 0 ? "ann" : "bob", .priority = i % 3};
    if (i % 4 == 0) job.facts.deadline = 100;
    job.submitted = i;
    for (int s = 0; s < 10; ++s) {
      const auto seconds = static_cast<double>(random.Integer(1, 9));
      const ResourceNeed need =
          s % 2 == 0 ? ResourceNeed{kProcessorsKey, 2, false} : ResourceNeed{"device/a", 1, true};
      job.stages.push_back({{s % 2 == 0 ? "build" : "time", {need}, 1 << 20, {1, 5, 9}}, seconds});
    }
  }
  return jobs;
}

// The record of a simulation on one host. Its processors are unknown, since the simulation does not say.
ScheduleRecord TraceOf(const std::vector<SimulatedJob>& jobs, const SimulationResult& result,
                       const HostResources& host, const SchedulingStrategy& strategy) {
  ScheduleRecord record{
      .id = "simulated", .strategy = std::string(strategy.name), .host = host, .jobs = {}, .stages = {}};
  for (const SimulatedJob& job : jobs) {
    JobRecord& added = record.jobs.emplace_back();
    added.spec.id = job.facts.id;
    added.spec.kind = "simulated";
    added.spec.owner = job.facts.owner;
    added.spec.priority = job.facts.priority;
    added.spec.deadline_seconds = job.facts.deadline;
    added.state = JobState::kDone;
    added.position = std::ssize(job.stages);
  }
  for (const StageRun& run : result.runs) {
    StageRecord& added = record.stages.emplace_back();
    added.job = jobs[run.job].facts.id;
    added.stage = jobs[run.job].stages[run.stage].stage;
    added.asked = run.asked;
    added.start = run.start;
    added.end = run.end;
  }
  // Stages of a job that take no time stay in their order, which is that of the starts.
  std::vector<StageRecord>& stages = record.stages;
  std::ranges::sort(stages, {}, [](const StageRecord& stage) { return std::pair(stage.end, stage.start); });
  return record;
}

class Traces : public ::testing::TestWithParam<SchedulingStrategy> {};

TEST_P(Traces, SimulatingATraceGivesItAgain) {
  const std::vector<SimulatedJob> jobs = SomeJobs(12);
  std::vector<HostResources> hosts(GetParam().dedicates_hosts ? jobs.size() : 1, kHost);
  const auto first = Simulate(jobs, hosts, GetParam());
  ASSERT_TRUE(first.ok()) << first.status();
  const std::string text = ToJson(TraceOf(jobs, *first, kHost, GetParam())).dump();
  const auto record = ScheduleOfJson(*ParseJson(text));
  ASSERT_TRUE(record.ok()) << record.status();
  const auto second = Simulate(JobsOfTrace(*record), hosts, GetParam());
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_EQ(second->makespan, first->makespan);
  EXPECT_EQ(second->missed_deadlines, first->missed_deadlines);
  ASSERT_EQ(second->runs.size(), first->runs.size());
  for (size_t i = 0; i < first->runs.size(); ++i) {
    EXPECT_EQ(second->runs[i].job, first->runs[i].job);
    EXPECT_EQ(second->runs[i].start, first->runs[i].start);
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, Traces,
                         ::testing::ValuesIn(AllSchedulingStrategies().begin(),
                                             AllSchedulingStrategies().end()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(JobsOfTrace, LeavesOutWhatCameToNothing) {
  ScheduleRecord record = {.id = "s", .strategy = "first_come", .host = kHost, .jobs = {}, .stages = {}};
  record.jobs.resize(2);
  record.jobs[0].spec.id = "one";
  record.jobs[1].spec.id = "never ran";
  const JobStage build = {"build", {}, 0, {}};
  for (const auto& [asked, outcome] : {std::pair(1, StageOutcome::kLost), {3, StageOutcome::kDone}})
    record.stages.push_back({"one", build, 1.0 * asked, 4, 6, {}, {}, outcome});
  const std::vector<SimulatedJob> jobs = JobsOfTrace(record);
  ASSERT_EQ(jobs.size(), 1);
  EXPECT_EQ(jobs[0].submitted, 1);
  ASSERT_EQ(jobs[0].stages.size(), 1);
  EXPECT_EQ(jobs[0].stages[0].seconds, 2);
}

TEST(MixJobs, LikeAndUnlike) {
  const auto ids = [](const std::vector<SimulatedJob>& jobs) {
    std::vector<std::string> all;
    for (const SimulatedJob& job : jobs) all.push_back(job.facts.id);
    return all;
  };
  EXPECT_THAT(ids(*MixJobs(SomeJobs(2), 5, Mix::kUnlike)),
              ElementsAre("job0", "job1", "job0#3", "job1#4", "job0#5"));
  EXPECT_THAT(ids(*MixJobs(SomeJobs(2), 3, Mix::kLike)), ElementsAre("job0", "job0#2", "job0#3"));
  EXPECT_EQ(MixJobs(SomeJobs(7), 0, Mix::kUnlike)->size(), 7);
  EXPECT_THAT(MixJobs({}, 3, Mix::kLike).status().message(), HasSubstr("no stage of any job has ended"));
  EXPECT_THAT(MixJobs(SomeJobs(1), 1'000'000, Mix::kLike).status().message(),
              HasSubstr("more than 4000000 stages"));
}

TEST(MixJobs, KeepsIdsApart) {
  std::vector<SimulatedJob> jobs = SomeJobs(3);
  jobs[0].facts.id = jobs[1].facts.id = "a";
  jobs[2].facts.id = "a#2";
  std::set<std::string> ids;
  const auto mixed = MixJobs(jobs, 9, Mix::kUnlike);
  for (const SimulatedJob& job : *mixed) ids.insert(job.facts.id);
  EXPECT_EQ(ids.size(), 9);
}

TEST(HostsLike, HaveAsManyDevicesAsWanted) {
  const HostResources two = {.processors = 4, .devices = {{"device/b", {0}}, {"device/b", {1}}}};
  EXPECT_EQ(HostsLike({kHost, two}, 0, 0)->size(), 2);
  EXPECT_EQ(HostsLike({kHost, two}, 7, 0)->size(), 5);
  EXPECT_EQ(HostsLike({{.processors = 1}}, 3, 0)->size(), 3);
  EXPECT_FALSE(HostsLike({{.processors = 8192}}, 100'000, 0).ok());
}

TEST(HostsLike, TheDevicesKeepTheirProcessors) {
  HostResources host = kHost;
  host.caches = {0, 0, 1, 1};
  host.devices[0].quiet = {2};
  const HostResources small = HostsLike({host}, 0, 3)->front(), large = HostsLike({host}, 0, 6)->front();
  EXPECT_EQ(small.processors, 3);
  EXPECT_THAT(small.devices[0].processors, ElementsAre(1));
  EXPECT_THAT(small.devices[0].quiet, ElementsAre(0));
  EXPECT_THAT(small.caches, ElementsAre(1, 1, 0));
  EXPECT_EQ(large.processors, 6);
  EXPECT_THAT(large.caches, ElementsAre(1, 1, 0, 0, 2, 3));
  EXPECT_THAT(HostsLike({host}, 0, 1).status().message(),
              HasSubstr("a host's devices hold 2 processors; it cannot have 1"));
}

TEST(HostsOfTraces, ASameHostOnce) {
  ScheduleRecord one, other;
  one.host = other.host = kHost;
  other.host.memory_bytes = 5;
  EXPECT_EQ(HostsOfTraces({one, other}).size(), 1);
  other.host.devices[0].key = "device/b";
  EXPECT_EQ(HostsOfTraces({one, other}).size(), 2);
}

const char kDescription[] = R"({
  "jobs": 2000, "arrival_seconds": 10, "deadline_factor": 3, "owners": 4, "priorities": 2,
  "stages": [{"name": "build", "processors": 2, "seconds": [5, 10, 40]},
             {"name": "time", "device": true, "memory_bytes": 1000, "seconds": 3}],
  "repeat": [2, 4],
  "hosts": {"devices": 8, "devices_per_host": 2, "processors_per_host": 6}})";

TEST(DrawWorkload, IsWhatTheDescriptionSays) {
  const auto drawn = DrawWorkload(json::parse(kDescription), 0, 1);
  ASSERT_TRUE(drawn.ok()) << drawn.status();
  ASSERT_EQ(drawn->jobs.size(), 2000);
  EXPECT_EQ(drawn->devices, 8);
  EXPECT_EQ(drawn->host.processors, 6);
  ASSERT_EQ(drawn->host.devices.size(), 2);
  EXPECT_THAT(drawn->host.devices[1].processors, ElementsAre(1));
  std::vector<double> seconds;
  std::set<size_t> lengths;
  for (const SimulatedJob& job : drawn->jobs) {
    lengths.insert(job.stages.size());
    for (size_t s = 0; s < job.stages.size(); s += 2) seconds.push_back(job.stages[s].seconds);
    EXPECT_EQ(job.stages[1].seconds, 3);
  }
  EXPECT_THAT(lengths, ElementsAre(4, 6, 8));
  EXPECT_NEAR(QuantileOf(seconds, 0.1), 5, 0.25);
  EXPECT_NEAR(QuantileOf(seconds, 0.5), 10, 0.5);
  EXPECT_NEAR(QuantileOf(seconds, 0.9), 40, 3);
  EXPECT_NEAR(drawn->jobs.back().submitted / 1999, 10, 0.5);
  const SimulatedJob& job = drawn->jobs[5];
  EXPECT_EQ(job.facts.owner, "owner1");
  EXPECT_EQ(job.facts.priority, 1);
  EXPECT_NEAR(*job.facts.deadline, job.submitted + 3 * 6.5 * static_cast<double>(job.stages.size()), 1e-6);
}

TEST(DrawWorkload, TheSeedDecides) {
  const json description = json::parse(kDescription);
  const auto sums = [&](int64_t count, uint64_t seed) {
    std::vector<double> all;
    const auto drawn = DrawWorkload(description, count, seed);
    for (const SimulatedJob& job : drawn->jobs) {
      double sum = job.submitted;
      for (const SimulatedStage& stage : job.stages) sum += stage.seconds;
      all.push_back(sum);
    }
    all.resize(50);
    return all;
  };
  EXPECT_EQ(sums(50, 3), sums(50, 3));
  EXPECT_EQ(sums(50, 3), sums(500, 3));
  EXPECT_NE(sums(50, 3), sums(50, 4));
}

TEST(DrawWorkload, NamesWhatIsWrong) {
  const auto error = [](const char* pointer, const json& value) {
    json description = json::parse(kDescription);
    description[json::json_pointer(pointer)] = value;
    return std::string(DrawWorkload(description, 0, 0).status().message());
  };
  EXPECT_THAT(error("/jobs", 0), HasSubstr("jobs: is not a whole number from 1"));
  EXPECT_THAT(error("/job", 1), HasSubstr("job: is not a setting"));
  EXPECT_THAT(error("/stages", json::array()), HasSubstr("stages: is empty"));
  EXPECT_THAT(error("/stages/0/seconds", {3, 2, 1}), HasSubstr("stages: seconds: is neither"));
  EXPECT_THAT(error("/stages/0/seconds", {0, 2, 3}), HasSubstr("stages: seconds: is neither"));
  EXPECT_THAT(error("/stages/0/seconds", "long"), HasSubstr("stages: seconds: is neither"));
  EXPECT_THAT(error("/repeat", {4, 2}), HasSubstr("repeat: is neither"));
  EXPECT_THAT(error("/repeat", -1), HasSubstr("repeat: is neither"));
  EXPECT_THAT(error("/repeat", 1'000'000), HasSubstr("more than 4000000 stages"));
  EXPECT_THAT(error("/hosts/processors_per_host", 1),
              HasSubstr("hosts: processors_per_host: are fewer than the 2 of the devices"));
  EXPECT_THAT(DrawWorkload(json(3), 0, 0).status().message(), HasSubstr("is not an object"));
}

TEST(StrategyComparison, TheBoundHoldsAndDedicatedReachesIt) {
  const auto drawn = DrawWorkload(json::parse(kDescription), 40, 1);
  const auto hosts = HostsLike({drawn->host}, 2, 0);
  const StrategyComparison comparison(drawn->jobs, *hosts);
  for (const SchedulingStrategy& strategy : AllSchedulingStrategies()) {
    const auto outcome = comparison.Run(strategy);
    ASSERT_TRUE(outcome.ok()) << outcome.status();
    EXPECT_EQ(outcome->hosts, strategy.dedicates_hosts ? 40 : 1);
    EXPECT_EQ(outcome->devices, 2 * outcome->hosts);
    if (strategy.is_coordinated) EXPECT_GE(outcome->makespan, outcome->bound * (1 - 1e-9)) << strategy.name;
    if (strategy.dedicates_hosts) EXPECT_NEAR(outcome->makespan, outcome->bound, 1e-6);
    EXPECT_GE(outcome->idle_devices, 0);
    EXPECT_LE(outcome->idle_devices, 1);
  }
}

TEST(StrategyComparison, KnowsWhatIsIdle) {
  // One job: two processors of four for 6 s, then the device, which is one of them, for 4 s.
  const std::vector<SimulatedJob> jobs = {
      {{.id = "a"},
       0,
       {{{"build", {{kProcessorsKey, 2, false}}, 0, {}}, 6}, {{"time", {{"device/a", 1, true}}, 0, {}}, 4}}}};
  const std::vector<HostResources> hosts = {kHost};
  const auto outcome = StrategyComparison(jobs, hosts).Run(*FindSchedulingStrategy("first_come"));
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->bound, 10);
  EXPECT_EQ(outcome->idle_devices, 1 - 4.0 / 10);
  EXPECT_EQ(outcome->idle_processors, 1 - 16.0 / 40);
  const std::string html = ComparisonHtml("<1 job", {*outcome}, {StrategyChart(jobs, *outcome)});
  EXPECT_THAT(html, HasSubstr("&lt;1 job"));
  EXPECT_THAT(html, HasSubstr("a: build\n0 s to 6 s on host 0"));
  EXPECT_THAT(ComparisonRows({*outcome})[1], ::testing::Contains("1.00×"));
}

TEST(StrategyComparison, NamesAStageThatCanNeverRun) {
  const std::vector<SimulatedJob> jobs = {{{.id = "a"}, 0, {{{"fly", {{"wings", 2, false}}, 0, {}}, 1}}}};
  const std::vector<HostResources> hosts = {kHost};
  const StrategyComparison comparison(jobs, hosts);
  for (const SchedulingStrategy& strategy : AllSchedulingStrategies())
    EXPECT_THAT(comparison.Run(strategy).status().message(), HasSubstr("fly"));
}

}  // namespace
}  // namespace attune
