#include "work/sched/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "base/random.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kDevice[] = "device/a";

JobStage Build(int64_t processors = 1) { return {"build", {{kProcessorsKey, processors, false}}, 0, {}}; }
JobStage Time() { return {"time", {{kDevice, 1, true}}, 0, {}}; }

std::vector<int64_t> Jobs(const std::vector<StageStart>& starts) {
  std::vector<int64_t> jobs;
  for (const StageStart& start : starts) jobs.push_back(start.job);
  return jobs;
}

class SchedulerTest : public ::testing::Test {
 protected:
  // One processor that builds, and a device on another.
  void Make(std::string_view strategy) {
    scheduler_ = std::make_unique<Scheduler>(*FindSchedulingStrategy(strategy));
    scheduler_->AddHost({.processors = 2, .devices = {{kDevice, {1}}}});
  }
  int64_t Submit(const JobStage& stage, JobFacts facts = {}, double remaining = 10) {
    facts.id = absl::StrCat("job", num_submitted_++);
    const auto job = scheduler_->Submit(std::move(facts), {stage, remaining}, now_);
    EXPECT_TRUE(job.ok()) << job.status();
    return job.value_or(-1);
  }
  void Done(int64_t job, std::optional<JobStage> next, double remaining = 10) {
    std::optional<NextStage> stage;
    if (next) stage = NextStage{*next, remaining};
    EXPECT_TRUE(scheduler_->Done(job, std::move(stage), now_).ok());
  }
  std::vector<int64_t> Decide() { return Jobs(scheduler_->Decide(now_)); }

  std::unique_ptr<Scheduler> scheduler_;
  double now_ = 0;
  int num_submitted_ = 0;
};

TEST_F(SchedulerTest, FirstComeFillsGaps) {
  Make("first_come");
  const int64_t a = Submit(Build()), b = Submit(Build());
  EXPECT_THAT(Decide(), ElementsAre(a, b));
  now_ = 1;
  Done(a, Time());
  EXPECT_THAT(Decide(), IsEmpty());  // b builds on the device's processor
  Done(b, Time());
  EXPECT_THAT(Decide(), ElementsAre(a));
  Done(a, Build());
  EXPECT_THAT(Decide(), ElementsAre(a, b));  // asked at the same time
}

TEST_F(SchedulerTest, SequentialRunsOneJobAfterAnother) {
  Make("sequential");
  const int64_t a = Submit(Build()), b = Submit(Build());
  EXPECT_THAT(Decide(), ElementsAre(a));
  Done(a, Time());
  EXPECT_THAT(Decide(), ElementsAre(a));
  Done(a, std::nullopt);
  EXPECT_THAT(Decide(), ElementsAre(b));
}

TEST_F(SchedulerTest, LockstepWaitsForTheRound) {
  Make("lockstep");
  const int64_t a = Submit(Build()), b = Submit(Build());
  EXPECT_THAT(Decide(), ElementsAre(a, b));
  Done(a, Build());
  EXPECT_THAT(Decide(), IsEmpty());
  Done(b, Build());
  EXPECT_THAT(Decide(), ElementsAre(a, b));
}

TEST_F(SchedulerTest, UncoordinatedStartsAll) {
  Make("uncoordinated");
  const int64_t a = Submit(Time()), b = Submit(Time()), c = Submit(Build(2));
  EXPECT_THAT(Decide(), ElementsAre(a, b, c));
}

TEST_F(SchedulerTest, DedicatedJobsNeverMeet) {
  Make("dedicated");
  const int64_t a = Submit(Build()), b = Submit(Build());
  EXPECT_THAT(Decide(), ElementsAre(a));
  scheduler_->AddHost({.processors = 2, .devices = {{kDevice, {1}}}});
  const std::vector<StageStart> starts = scheduler_->Decide(now_);
  EXPECT_THAT(Jobs(starts), ElementsAre(b));
  EXPECT_EQ(starts[0].holding.host, 1);
  Done(a, Time());
  EXPECT_EQ(scheduler_->Decide(now_).at(0).holding.host, 0);
}

TEST_F(SchedulerTest, PredictiveTakesTheLongestWayAndTheLeastSlack) {
  Make("predictive");
  const int64_t brief = Submit(Time(), {}, 5), lengthy = Submit(Time(), {}, 50);
  const int64_t late = Submit(Time(), {.deadline = 100}, 20), urgent = Submit(Time(), {.deadline = 100}, 90);
  for (const int64_t expected : {urgent, late, lengthy, brief}) {
    EXPECT_THAT(Decide(), ElementsAre(expected));
    Done(expected, std::nullopt);
  }
}

TEST_F(SchedulerTest, BackToBackGoesOnWithWhatItBegan) {
  Make("back_to_back");
  const int64_t a = Submit(Build(2), {}, 10), b = Submit(Build(2), {}, 9);
  EXPECT_THAT(Decide(), ElementsAre(a));
  Done(a, Build(2), 8);  // b has more left, but a continues
  EXPECT_THAT(Decide(), ElementsAre(a));
  Done(a, Time(), 7);
  EXPECT_THAT(Decide(), ElementsAre(b));
}

TEST_F(SchedulerTest, AJobThatWaitsMayAskForSomethingElse) {
  Make("first_come");
  const int64_t a = Submit(Time()), b = Submit(Time());
  EXPECT_THAT(Decide(), ElementsAre(a));
  EXPECT_TRUE(scheduler_->Change(b, {Build(), 1}, now_).ok());
  EXPECT_THAT(Decide(), ElementsAre(b));
  Done(b, Time());
  EXPECT_FALSE(scheduler_->Change(b, {Build(3), 1}, now_).ok());
  EXPECT_EQ(scheduler_->num_jobs(), 1);
}

TEST_F(SchedulerTest, PriorityAges) {
  Make("priority");
  const int64_t low = Submit(Time());
  now_ = 500;
  const int64_t high = Submit(Time(), {.priority = 1});
  now_ = 700;
  const int64_t later = Submit(Time(), {.priority = 1});
  for (const int64_t expected : {high, low, later}) {
    EXPECT_THAT(Decide(), ElementsAre(expected));
    Done(expected, std::nullopt);
  }
}

TEST_F(SchedulerTest, FairShareTurnsToTheOwnerWithTheLeast) {
  Make("fair_share");
  const int64_t a1 = Submit(Time(), {.owner = "a"}), a2 = Submit(Time(), {.owner = "a"});
  const int64_t b1 = Submit(Time(), {.owner = "b"});
  EXPECT_THAT(Decide(), ElementsAre(a1));
  now_ = 10;
  Done(a1, std::nullopt);
  EXPECT_THAT(Decide(), ElementsAre(b1));
  now_ = 15;
  Done(b1, std::nullopt);
  EXPECT_THAT(Decide(), ElementsAre(a2));
}

TEST_F(SchedulerTest, SmallRequestsDoNotOvertakeALargeOneForEver) {
  Make("first_come");
  const int64_t first = Submit(Build());
  EXPECT_THAT(Decide(), ElementsAre(first));
  const int64_t large = Submit(Build(2)), small = Submit(Build());
  EXPECT_THAT(Decide(), IsEmpty());  // the free processor is kept
  Done(first, std::nullopt);
  EXPECT_THAT(Decide(), ElementsAre(large));
  Done(large, std::nullopt);
  EXPECT_THAT(Decide(), ElementsAre(small));
}

TEST_F(SchedulerTest, AStageIsRunAgainWhereItsHostIsLost) {
  Make("first_come");
  const int64_t job = Submit(Time());
  EXPECT_THAT(Decide(), ElementsAre(job));
  EXPECT_THAT(scheduler_->RemoveHost(0, now_), ElementsAre(job));
  EXPECT_THAT(Decide(), IsEmpty());
  scheduler_->AddHost({.processors = 1, .devices = {{kDevice, {0}}}});
  EXPECT_THAT(Decide(), ElementsAre(job));
}

TEST_F(SchedulerTest, KnowsWhatNobodyCanGrantAnyMore) {
  Make("first_come");
  const int other = scheduler_->AddHost({.processors = 8});
  const int64_t a = Submit(Build(8)), b = Submit(Build(8)), c = Submit(Build());
  EXPECT_THAT(Decide(), ElementsAre(a, c));
  EXPECT_THAT(scheduler_->Ungrantable(), IsEmpty());
  EXPECT_THAT(scheduler_->RemoveHost(other, now_), ElementsAre(a));
  EXPECT_THAT(scheduler_->Ungrantable(), ElementsAre(a, b));
  EXPECT_EQ(scheduler_->stage(b).needs.at(0).amount, 8);
  scheduler_->Drop(a);
  scheduler_->AddHost({.processors = 8});
  EXPECT_THAT(scheduler_->Ungrantable(), IsEmpty());
  EXPECT_THAT(Decide(), ElementsAre(b));
}

TEST_F(SchedulerTest, RefusesWhatCanNeverBeGranted) {
  Make("first_come");
  EXPECT_THAT(scheduler_->Submit({.id = "large"}, {Build(3), 1}, 0).status().message(),
              HasSubstr("job \"large\": no machine has what its stage \"build\" needs"));
  const int64_t job = Submit(Build());
  EXPECT_THAT(scheduler_->Submit({.id = "job0"}, {Build(), 1}, 0).status().message(),
              HasSubstr("job job0 runs already"));
  EXPECT_THAT(Decide(), ElementsAre(job));
  EXPECT_FALSE(scheduler_->Done(job, NextStage{Build(3), 1}, 0).ok());
  EXPECT_EQ(scheduler_->num_jobs(), 0);
}

TEST(SchedulingStrategies, HaveNamesOfTheirOwn) {
  for (const SchedulingStrategy& strategy : AllSchedulingStrategies())
    EXPECT_EQ(FindSchedulingStrategy(strategy.name), &strategy);
  EXPECT_EQ(FindSchedulingStrategy("none"), nullptr);
}

// A hundred thousand random sequences of hosts, jobs and events: what is held never exceeds what there is,
// the same events give the same decisions, and all jobs end.
class RandomRun {
 public:
  RandomRun(const SchedulingStrategy& strategy, uint64_t seed) : random_(seed), scheduler_(strategy) {
    const int64_t hosts = random_.Integer(strategy.dedicates_hosts ? 4 : 1, 4);
    for (int64_t i = 0; i < hosts; ++i) scheduler_.AddHost(RandomHost());
  }

  // Returns what happened, as text.
  std::string Run() {
    int64_t to_submit = random_.Integer(1, 4);
    for (int event = 0; to_submit > 0 || scheduler_.num_jobs() > 0; ++event) {
      now_ += random_.Uniform();
      if (event > 1000) return absl::StrCat(log_, "starved");
      const bool submits = to_submit > 0 && (running_.empty() || random_.Integer(0, 2) == 0);
      if (submits) {
        --to_submit;
        const JobFacts facts = {absl::StrCat("job", to_submit),
                                absl::StrCat("owner", random_.Integer(0, 1)),
                                static_cast<int>(random_.Integer(0, 2)),
                                {}};
        if (const auto job = scheduler_.Submit(facts, RandomStage(), now_); job.ok())
          left_[*job] = random_.Integer(0, 4);
      } else if (!running_.empty()) {
        EndAStage();
      }
      for (const StageStart& start : scheduler_.Decide(now_)) {
        absl::StrAppend(&log_, now_, " ", start.job, " on ", start.holding.host, "; ");
        running_[start.job] = start.holding;
      }
      Check();
    }
    return log_;
  }

 private:
  HostResources RandomHost() {
    HostResources host = {.processors = static_cast<int>(random_.Integer(1, 4)), .memory_bytes = 100};
    if (random_.Integer(0, 1) == 0) host.devices.push_back({kDevice, {host.processors - 1}});
    if (random_.Integer(0, 1) == 0) host.slots["licence"] = random_.Integer(1, 2);
    return host;
  }
  NextStage RandomStage() {
    JobStage stage = {.name = "stage", .needs = {}, .memory_bytes = random_.Integer(0, 60), .seconds = {}};
    if (random_.Integer(0, 1) == 0)
      stage.needs.push_back({kProcessorsKey, random_.Integer(1, 3), random_.Integer(0, 3) == 0});
    if (random_.Integer(0, 2) == 0) stage.needs.push_back({kDevice, 1, random_.Integer(0, 2) > 0});
    if (random_.Integer(0, 3) == 0) stage.needs.push_back({"licence", random_.Integer(1, 2), false});
    return {stage, random_.Uniform()};
  }
  void EndAStage() {
    auto ended = running_.begin();
    std::advance(ended, random_.Integer(0, std::ssize(running_) - 1));
    const int64_t job = ended->first;
    running_.erase(ended);
    if (random_.Integer(0, 9) == 0) return scheduler_.Lost(job, now_);
    std::optional<NextStage> next;
    if (left_[job]-- > 0) next = RandomStage();
    scheduler_.Done(job, next, now_).IgnoreError();
  }
  void Check() {
    std::map<int, std::map<std::string, int64_t>> used;
    for (const auto& [job, holding] : running_) {
      std::map<std::string, int64_t>& host = used[holding.host];
      for (const int p : holding.processors) EXPECT_EQ(++host[absl::StrCat("processor", p)], 1);
      for (const size_t d : holding.devices) EXPECT_EQ(++host[absl::StrCat("device", d)], 1);
      host["memory"] += holding.memory_bytes;
      EXPECT_LE(host["memory"], 100);
      for (const auto& [key, amount] : holding.slots)
        EXPECT_LE(host[key] += amount, scheduler_.ledger().host(holding.host).slots.at(key));
    }
    for (const auto& [job, holding] : running_) {
      for (const size_t d : holding.shared) EXPECT_EQ(used[holding.host][absl::StrCat("device", d)], 0);
    }
  }

  Random random_;
  Scheduler scheduler_;
  double now_ = 0;
  std::map<int64_t, Holding> running_;
  std::map<int64_t, int64_t> left_;  // stages after the one that waits or runs
  std::string log_;
};

TEST(RandomSchedules, HoldWhatIsPromised) {
  for (const SchedulingStrategy& strategy : AllSchedulingStrategies()) {
    for (uint64_t seed = 0; seed < 12500; ++seed) {
      const std::string log = RandomRun(strategy, seed).Run();
      ASSERT_THAT(log, Not(HasSubstr("starved"))) << strategy.name << " " << seed;
      if (seed < 100) ASSERT_EQ(RandomRun(strategy, seed).Run(), log) << strategy.name << " " << seed;
      if (::testing::Test::HasFailure()) FAIL() << strategy.name << " " << seed;
    }
  }
}

}  // namespace
}  // namespace attune
