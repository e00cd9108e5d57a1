#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "work/driver/job_manager.h"

namespace attune {
namespace {

using ::testing::ElementsAre;

NextStage Next(const std::string& name, double seconds) {
  return {.stage = {.name = name, .needs = {}, .memory_bytes = 0, .seconds = {seconds, seconds, seconds}},
          .remaining = 10 * seconds};
}

Holding Holds(std::vector<int> granted, std::vector<int> processors) {
  Holding holding;
  holding.host = 0;
  holding.granted = std::move(granted);
  holding.processors = std::move(processors);
  return holding;
}

TEST(StageAttempt, IsRecordedWithItsTimesAndItsResources) {
  StageAttempt attempt;
  attempt.Ask(Next("build", 3), {1, 2, 3}, 5);
  EXPECT_FALSE(attempt.runs());
  EXPECT_EQ(attempt.name(), "build");
  EXPECT_EQ(attempt.asked(), 5);
  attempt.Start(Holds({2}, {2, 3}), "desk", 7);
  EXPECT_TRUE(attempt.runs());
  EXPECT_EQ(attempt.start(), 7);
  const StageRecord stage = attempt.End(StageOutcome::kDone, 9);
  EXPECT_FALSE(attempt.runs());
  EXPECT_EQ(stage.stage.name, "build");
  EXPECT_EQ(stage.stage.seconds.median, 3);  // what the scheduler used
  EXPECT_EQ(stage.own.median, 2);            // what the job said
  EXPECT_EQ(stage.asked, 5);
  EXPECT_EQ(stage.start, 7);
  EXPECT_EQ(stage.end, 9);
  EXPECT_THAT(stage.processors, ElementsAre(2));
  EXPECT_THAT(stage.held, ElementsAre(2, 3));
  EXPECT_EQ(stage.place, "desk");
}

TEST(StageAttempt, KeepsItsPlaceWhileTheNextStageIsAskedFor) {
  StageAttempt attempt;
  EXPECT_EQ(attempt.place(), "");
  attempt.Ask(Next("build", 1), {}, 0);
  attempt.Start(Holds({}, {}), "desk", 1);
  EXPECT_EQ(attempt.End(StageOutcome::kLost, 2).outcome, StageOutcome::kLost);
  attempt.Ask(Next("time", 2), {}, 3);
  EXPECT_EQ(attempt.place(), "desk");
  EXPECT_EQ(attempt.next().remaining, 20);
  attempt.Start(Holds({}, {}), "attic", 4);
  EXPECT_EQ(attempt.End(StageOutcome::kDone, 5).place, "attic");
}

}  // namespace
}  // namespace attune
