#include "fleet/slurm/pilot_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/testing/manual_clock.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// Pilots are named attune-t-1, attune-t-2 and so on.
std::string Name(int number) { return PilotName("t", absl::StrCat(number), false); }

// A planner, and the world that it sees: Slurm with its jobs, and the fleet with its devices.
class PilotPlannerTest : public ::testing::Test {
 protected:
  void Use(const PilotLimits& limits) {
    planner_.emplace(
        limits, [this](bool stays) { return PilotName("t", absl::StrCat(++last_name_), stays); }, clock_);
  }

  // Plans, and carries it out as a Slurm that works does. A second passes.
  PilotActions Step() {
    PilotActions actions = planner_->Plan(view_);
    for (const std::string& name : actions.submitted)
      if (view_.jobs) (*view_.jobs)[name] = PilotJobState::kPending;
    for (const std::string& name : actions.cancelled) End(name);
    for (const std::string& id : actions.removed_devices)
      std::erase_if(view_.devices, [&](const PilotDevice& device) { return device.id == id; });
    most_jobs_ = std::max(most_jobs_, view_.jobs ? view_.jobs->size() : 0);
    clock_.Advance(1);
    return actions;
  }
  // Many steps. Returns what was done in them.
  PilotActions Steps(int count) {
    PilotActions all;
    const auto add = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
    for (int i = 0; i < count; ++i) {
      const PilotActions actions = Step();
      add(all.removed_devices, actions.removed_devices);
      add(all.forgotten, actions.forgotten);
      add(all.cancelled, actions.cancelled);
      add(all.invited, actions.invited);
      add(all.submitted, actions.submitted);
    }
    return all;
  }

  // The job starts, and its agent comes.
  void Come(const std::string& name, bool is_held = false) {
    (*view_.jobs)[name] = PilotJobState::kStarted;
    view_.devices.push_back({.id = name + "/cpu", .pilot = name, .is_there = true, .is_held = is_held});
  }
  // The job ends, and with it the agent.
  void End(const std::string& name) {
    if (view_.jobs) view_.jobs->erase(name);
    for (PilotDevice& device : view_.devices)
      if (device.pilot == name) device.is_there = device.is_held = false;
  }
  static std::vector<std::string> Names(const std::vector<ForgottenPilot>& pilots) {
    std::vector<std::string> names;
    for (const ForgottenPilot& pilot : pilots) names.push_back(pilot.name + (pilot.is_lost ? " lost" : ""));
    return names;
  }

  ManualClock clock_;
  std::optional<PilotPlanner> planner_;
  PilotView view_ = {.jobs = std::map<std::string, PilotJobState>()};
  int last_name_ = 0;
  size_t most_jobs_ = 0;
};

TEST_F(PilotPlannerTest, SubmitsAsManyAsAreAskedForUpToTheMost) {
  Use({.max = 3});
  EXPECT_THAT(Step().submitted, IsEmpty());
  view_.waiting = 2;
  EXPECT_THAT(Step().submitted, ElementsAre(Name(1), Name(2)));
  EXPECT_THAT(Steps(20).submitted, IsEmpty());  // they are on their way
  view_.waiting = 50;
  EXPECT_THAT(Step().submitted, ElementsAre(Name(3)));
  EXPECT_THAT(Steps(20).submitted, IsEmpty());
}

TEST_F(PilotPlannerTest, APilotWithWorkServesNobodyElse) {
  Use({.max = 3});
  view_.waiting = 1;
  Step();
  Come(Name(1), /*is_held=*/true);
  EXPECT_THAT(Step().submitted, ElementsAre(Name(2)));
  Come(Name(2));  // it is free, and has the next request soon
  EXPECT_THAT(Steps(5).submitted, IsEmpty());
}

TEST_F(PilotPlannerTest, APilotThatHasEndedIsForgottenWithItsDeviceAfterAWhile) {
  Use({.max = 1, .absent_seconds = 10});
  view_.waiting = 1;
  Step();
  Come(Name(1), true);
  view_.waiting = 0;
  Step();
  End(Name(1));
  PilotActions actions = Steps(10);
  EXPECT_THAT(actions.forgotten, IsEmpty());
  actions = Step();
  EXPECT_THAT(Names(actions.forgotten), ElementsAre(Name(1)));
  EXPECT_THAT(actions.removed_devices, ElementsAre(Name(1) + "/cpu"));
  EXPECT_THAT(actions.submitted, IsEmpty());
  EXPECT_THAT(view_.devices, IsEmpty());
}

TEST_F(PilotPlannerTest, APilotThatHasEndedIsReplacedAtOnceIfThereIsRoom) {
  Use({.max = 2, .absent_seconds = 10});
  view_.waiting = 1;
  Step();
  Come(Name(1));
  Step();
  End(Name(1));
  EXPECT_THAT(Step().submitted, ElementsAre(Name(2)));
  Come(Name(2));
  Step();
  End(Name(2));
  EXPECT_THAT(Steps(5).submitted, IsEmpty());  // the first one still counts
  EXPECT_THAT(Steps(10).submitted, ElementsAre(Name(3)));
}

TEST_F(PilotPlannerTest, AJobThatSlurmHasForgottenIsReplaced) {
  Use({.max = 2, .absent_seconds = 10});
  view_.waiting = 2;
  EXPECT_THAT(Step().submitted, SizeIs(2));
  view_.jobs->erase(Name(2));  // slurmctld was killed before it had saved it
  const PilotActions actions = Steps(15);
  EXPECT_THAT(Names(actions.forgotten), ElementsAre(Name(2) + " lost"));
  EXPECT_THAT(actions.submitted, ElementsAre(Name(3)));
  EXPECT_EQ(most_jobs_, 2u);
}

TEST_F(PilotPlannerTest, AJobThatSlurmHasForgottenCountsWhileItsAgentIsThere) {
  Use({.max = 1, .absent_seconds = 10});
  view_.waiting = 1;
  Step();
  Come(Name(1), true);
  view_.jobs->clear();
  EXPECT_THAT(Steps(100).submitted, IsEmpty());
  End(Name(1));
  EXPECT_THAT(Steps(20).submitted, ElementsAre(Name(2)));
}

TEST_F(PilotPlannerTest, WhileSlurmDoesNotAnswerNothingIsDecided) {
  Use({.max = 3, .absent_seconds = 10});
  view_.waiting = 2;
  Step();
  Come(Name(1), true);
  const auto jobs = view_.jobs;
  view_.jobs.reset();
  view_.devices[0].is_there = false;  // the fleet's server has started again
  view_.waiting = 9;
  const PilotActions actions = Steps(100);
  EXPECT_THAT(actions.forgotten, IsEmpty());
  EXPECT_THAT(actions.submitted, IsEmpty());
  view_.jobs = jobs;
  view_.devices[0].is_there = true;
  EXPECT_THAT(Steps(20).submitted, ElementsAre(Name(3)));
}

TEST_F(PilotPlannerTest, ASubmissionThatFailedMayHaveBeenSuccessful) {
  Use({.max = 2, .absent_seconds = 10});
  view_.waiting = 2;
  EXPECT_THAT(planner_->Plan(view_).submitted, ElementsAre(Name(1), Name(2)));
  planner_->SubmissionFailed();
  planner_->SubmissionFailed();
  (*view_.jobs)[Name(1)] = PilotJobState::kPending;
  const PilotActions actions = Steps(15);
  EXPECT_THAT(Names(actions.forgotten), ElementsAre(Name(2) + " lost"));
  EXPECT_THAT(actions.submitted, ElementsAre(Name(3)));
  EXPECT_EQ(most_jobs_, 2u);
}

TEST_F(PilotPlannerTest, PausesLongerAndLongerUntilAPilotComes) {
  Use({.max = 1, .longest_pause = 60});
  view_.waiting = 1;
  double last = 0;
  std::vector<double> pauses;
  for (int i = 0; i < 3000; ++i, clock_.Advance(1)) {
    for (const std::string& name : planner_->Plan(view_).submitted) {
      pauses.push_back(clock_.Now() - last);
      last = clock_.Now();
      planner_->NotSubmitted(name);
    }
  }
  EXPECT_THAT(std::vector<double>(pauses.begin() + 1, pauses.begin() + 10),
              ElementsAre(1, 2, 4, 8, 16, 32, 60, 60, 60));
  Steps(60);
  Come(Name(last_name_));
  Step();
  view_.waiting = 0;
  End(Name(last_name_));
  Steps(20);
  view_.waiting = 1;
  EXPECT_THAT(planner_->Plan(view_).submitted, SizeIs(1));
  planner_->NotSubmitted(Name(last_name_));
  EXPECT_THAT(planner_->Plan(view_).submitted, IsEmpty());
  clock_.Advance(1);
  EXPECT_THAT(planner_->Plan(view_).submitted, SizeIs(1));
}

TEST_F(PilotPlannerTest, JobsThatWaitInVainAreCancelledAfterAWhile) {
  Use({.max = 3, .idle_seconds = 60});
  view_.waiting = 3;
  Step();
  Come(Name(1));
  view_.waiting = 0;
  EXPECT_THAT(Steps(60).cancelled, IsEmpty());
  EXPECT_THAT(Steps(60).cancelled, UnorderedElementsAre(Name(2), Name(3)));  // the other one ends by itself
}

TEST_F(PilotPlannerTest, AShortPauseOfTheWorkCancelsNothing) {
  Use({.max = 2, .idle_seconds = 60});
  for (int i = 0; i < 100; ++i) {
    view_.waiting = i % 50 == 0 ? 2 : 0;
    EXPECT_THAT(Step().cancelled, IsEmpty()) << i;
  }
}

TEST_F(PilotPlannerTest, TheLeastStayUntilTheyAreTooMany) {
  Use({.min = 2, .max = 3, .idle_seconds = 60});
  const std::vector<std::string> stay = Step().submitted;
  EXPECT_THAT(stay, ElementsAre("attune-t-1-stays", "attune-t-2-stays"));
  for (const std::string& name : stay) Come(name);
  const PilotActions actions = Steps(500);
  EXPECT_THAT(actions.submitted, IsEmpty());
  EXPECT_THAT(actions.cancelled, IsEmpty());
  view_.devices[0].is_held = true;
  view_.devices[1].is_held = true;
  view_.waiting = 1;
  EXPECT_THAT(Step().submitted, ElementsAre(Name(3)));
  // Another controller with other limits finds them.
  view_.waiting = 0;
  Come(Name(3));
  view_.devices[0].is_held = false;
  Use({.min = 0, .max = 3, .idle_seconds = 60});
  EXPECT_THAT(Steps(100).cancelled, ElementsAre(stay[0]));
}

TEST_F(PilotPlannerTest, MoreThanTheMostAreCancelledUnlessTheyWork) {
  Use({.max = 2});
  for (int i = 1; i <= 5; ++i) Come(Name(i), /*is_held=*/i <= 2);
  (*view_.jobs)[Name(4)] = PilotJobState::kPending;
  view_.devices.erase(view_.devices.begin() + 3);
  view_.waiting = 9;
  EXPECT_THAT(Step().cancelled, ElementsAre(Name(4), Name(3), Name(5)));
  EXPECT_THAT(Steps(50).submitted, IsEmpty());
}

TEST_F(PilotPlannerTest, AJobWhoseEndSlurmHasForgottenIsCancelled) {
  Use({.max = 2, .away_seconds = 60, .coming_seconds = 900});
  view_.waiting = 2;
  Step();
  Come(Name(1), true);
  (*view_.jobs)[Name(2)] = PilotJobState::kStarted;  // its agent does not come
  Step();
  view_.devices[0].is_there = false;  // the server has started again
  EXPECT_THAT(Steps(50).cancelled, IsEmpty());
  view_.devices[0].is_there = true;
  Step();
  view_.devices[0].is_there = false;  // it has ended
  EXPECT_THAT(Steps(60).cancelled, IsEmpty());
  const PilotActions actions = Steps(20);
  EXPECT_THAT(actions.cancelled, ElementsAre(Name(1)));
  EXPECT_THAT(actions.submitted, ElementsAre(Name(3)));
  EXPECT_THAT(Steps(1000).cancelled, ElementsAre(Name(2)));
}

TEST_F(PilotPlannerTest, AJobThatDoesNotEndIsCancelledOnceMore) {
  Use({.max = 1});
  view_.jobs = {{Name(1), PilotJobState::kPending}, {Name(2), PilotJobState::kPending}};
  EXPECT_THAT(planner_->Plan(view_).cancelled, ElementsAre(Name(1)));
  EXPECT_THAT(planner_->Plan(view_).cancelled, IsEmpty());
  clock_.Advance(60);
  EXPECT_THAT(planner_->Plan(view_).cancelled, ElementsAre(Name(1), Name(2)));
}

TEST_F(PilotPlannerTest, AJobThatWaitsForLongIsInvitedAgain) {
  Use({.max = 3, .invitation_seconds = 200});
  view_.waiting = 2;
  Step();
  (*view_.jobs)["attune-t-old"] = PilotJobState::kPending;
  EXPECT_THAT(Step().invited, ElementsAre("attune-t-old"));
  Come(Name(1), true);
  EXPECT_THAT(Steps(190).invited, IsEmpty());
  EXPECT_THAT(Steps(20).invited, UnorderedElementsAre(Name(2), "attune-t-old"));
}

TEST_F(PilotPlannerTest, FindsWhatAnEarlierControllerHasLeft) {
  Use({.max = 4, .absent_seconds = 10});
  planner_->Adopt(Name(1));                          // it ended before it submitted this
  (*view_.jobs)[Name(2)] = PilotJobState::kPending;  // its folder is lost
  Come(Name(3), true);
  view_.devices.push_back({.id = "old/cpu", .pilot = Name(4)});  // its job has ended
  last_name_ = 4;
  view_.waiting = 1;
  const PilotActions actions = Steps(15);
  EXPECT_THAT(Names(actions.forgotten), ElementsAre(Name(1) + " lost", Name(4)));
  EXPECT_THAT(actions.removed_devices, ElementsAre("old/cpu"));
  EXPECT_THAT(actions.submitted, IsEmpty());
}

}  // namespace
}  // namespace attune
