#include "work/driver/job_runners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "absl/status/status.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::Pair;

// Counts what it is told.
class CountedRunners final : public Runners {
 public:
  absl::StatusOr<int64_t> Start(int) override {
    if (is_full) return absl::UnavailableError("no room");
    living.insert(++num_started_);
    return num_started_;
  }
  void Send(int64_t runner, const RunnerCommand& command) override {
    if (std::holds_alternative<CancelStage>(command)) cancelled.push_back(runner);
  }
  std::vector<RunnerEvent> Await(double) override { return {}; }
  void End(int64_t runner) override {
    living.erase(runner);
    ended.push_back(runner);
  }

  bool is_full = false;
  std::set<int64_t> living;
  std::vector<int64_t> ended, cancelled;

 private:
  int64_t num_started_ = 0;
};

class JobRunnersTest : public ::testing::Test {
 protected:
  int64_t Start(size_t job, int host) {
    const auto runner = jobs_.Start(job, host);
    EXPECT_TRUE(runner.ok()) << runner.status();
    return runner.value_or(-1);
  }

  CountedRunners runners_;
  JobRunners jobs_{runners_};
};

TEST_F(JobRunnersTest, EachBelongsToOneJobOnOneHostUntilItEnds) {
  const int64_t one = Start(11, 0), two = Start(12, 0), three = Start(13, 4);
  EXPECT_THAT(jobs_.JobOf(one), Optional(11));
  EXPECT_EQ(jobs_.HostOf(three), 4);
  EXPECT_THAT(jobs_.RunnersOn(0), ElementsAre(Pair(one, 11), Pair(two, 12)));
  EXPECT_THAT(jobs_.CountByHost(), ElementsAre(Pair(0, 2), Pair(4, 1)));
  jobs_.End(one);
  jobs_.End(one);  // has ended
  EXPECT_THAT(runners_.ended, ElementsAre(one));
  EXPECT_EQ(jobs_.JobOf(one), std::nullopt);
  jobs_.Forget(two);  // ended by itself
  EXPECT_THAT(jobs_.RunnersOn(0), IsEmpty());
  jobs_.EndAll();
  EXPECT_THAT(runners_.ended, ElementsAre(one, three));
}

TEST_F(JobRunnersTest, NothingIsLeftOfOneThatCannotStart) {
  runners_.is_full = true;
  EXPECT_TRUE(absl::IsUnavailable(jobs_.Start(11, 0).status()));
  EXPECT_THAT(jobs_.CountByHost(), IsEmpty());
}

TEST_F(JobRunnersTest, AJobThatMovesHasNoRunnerUntilItIsThere) {
  const int64_t first = Start(11, 0);
  EXPECT_EQ(jobs_.DestinationOf(11), std::nullopt);
  jobs_.Move(first, 4);
  EXPECT_THAT(runners_.living, IsEmpty());
  EXPECT_EQ(jobs_.JobOf(first), std::nullopt);
  EXPECT_THAT(jobs_.DestinationOf(11), Optional(4));
  // A host that is full is no reason to stay.
  runners_.is_full = true;
  EXPECT_FALSE(jobs_.Start(11, 4).ok());
  EXPECT_THAT(jobs_.DestinationOf(11), Optional(4));
  runners_.is_full = false;
  const int64_t second = Start(11, 4);
  EXPECT_EQ(jobs_.DestinationOf(11), std::nullopt);
  jobs_.Move(second, 0);
  jobs_.CancelMove(11);
  EXPECT_EQ(jobs_.DestinationOf(11), std::nullopt);
}

TEST_F(JobRunnersTest, ACancelledStageIsOverdueUnlessItsRunnerHasEnded) {
  const int64_t one = Start(11, 0), two = Start(12, 0), three = Start(13, 0);
  for (const int64_t runner : {one, two, three}) jobs_.Cancel(runner, 5);
  EXPECT_THAT(runners_.cancelled, ElementsAre(one, two, three));
  EXPECT_THAT(jobs_.Overdue(4), IsEmpty());
  jobs_.End(one);
  jobs_.Forget(two);
  EXPECT_THAT(jobs_.Overdue(5), ElementsAre(13));
}

}  // namespace
}  // namespace attune
