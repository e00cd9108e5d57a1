#include "work/driver/split_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SplitJobs, AWholeJobFollowsItsParts) {
  SplitJobs jobs;
  jobs.AddWhole(1);
  jobs.AddPart(1, 2);
  jobs.AddPart(1, 3);
  jobs.AddWhole(4);  // its parts ended before the server began again
  EXPECT_THAT(jobs.UnfinishedOf(1), ElementsAre(2, 3));
  EXPECT_THAT(jobs.UnfinishedOf(9), IsEmpty());
  EXPECT_THAT(jobs.TakeReady(), ElementsAre(4));
  jobs.End(1, 3, /*has_failed=*/false);
  EXPECT_THAT(jobs.TakeHopeless(), IsEmpty());
  EXPECT_THAT(jobs.TakeReady(), IsEmpty());
  jobs.End(1, 2, /*has_failed=*/false);
  EXPECT_THAT(jobs.TakeReady(), ElementsAre(1));
  EXPECT_TRUE(jobs.is_empty());
  jobs.End(1, 2, /*has_failed=*/true);  // not awaited
}

TEST(SplitJobs, PartsOfAJobThatHasFailedAreNotNeeded) {
  SplitJobs jobs;
  jobs.AddWhole(1);
  for (const size_t part : {2, 3, 4}) jobs.AddPart(1, part);
  jobs.End(1, 3, /*has_failed=*/true);
  EXPECT_THAT(jobs.TakeHopeless(), ElementsAre(2, 4));
  EXPECT_THAT(jobs.TakeHopeless(), IsEmpty());
  jobs.Forget(1);
  EXPECT_THAT(jobs.TakeReady(), IsEmpty());
}

TEST(SplitJobs, AWholeJobFailsForTheReasonThatItsPartsEnded) {
  std::map<size_t, JobRecord> parts;
  for (int part = 1; part <= 3; ++part) {
    JobRecord& record = parts[static_cast<size_t>(part)];
    record.spec.part = part;
    record.state = JobState::kDone;
  }
  EXPECT_EQ(FailureOfParts(parts), "");
  parts[1].state = JobState::kCancelled;
  EXPECT_EQ(FailureOfParts(parts), "part 1 was cancelled");
  parts[2].state = JobState::kFailed;
  parts[2].error = "no such file";
  EXPECT_EQ(FailureOfParts(parts), "part 2: no such file");
}

}  // namespace
}  // namespace attune
