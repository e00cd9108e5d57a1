#include <gtest/gtest.h>

#include "service/queue/schedule_loop.h"

namespace attune {
namespace {

TEST(JobCountersTest, JobsThatDoNotRunWait) {
  JobCounters counters;
  counters.Set(/*live=*/5, /*running=*/2, /*runners=*/1);
  counters.CountStage();
  counters.CountStage();
  const JobCounts counts = counters.counts();
  EXPECT_EQ(counts.waiting, 3);
  EXPECT_EQ(counts.running, 2);
  EXPECT_EQ(counts.runners, 1);
  EXPECT_EQ(counts.stages, 2);
  counters.Set(0, 0, 0);
  EXPECT_EQ(counters.counts().waiting, 0);
  EXPECT_EQ(counters.counts().stages, 2);
}

}  // namespace
}  // namespace attune
