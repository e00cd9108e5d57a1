#include "tune/job/execution_limit.h"

#include "gtest/gtest.h"

namespace attune {
namespace {

void Batch(ExecutionLimit& limit, int executed, int timed_out) {
  for (int i = 0; i < executed; ++i) limit.Note(i < timed_out);
  limit.EndBatch();
}

TEST(ExecutionLimit, RisesWhileMoreThanATenthTimeOut) {
  ExecutionLimit limit(0);
  const double first = limit.Of(1e-3);
  Batch(limit, 20, 2);
  Batch(limit, 0, 0);
  EXPECT_EQ(limit.Of(1e-3), first);
  Batch(limit, 20, 3);
  EXPECT_EQ(limit.Of(1e-3), 2 * first);
  for (int i = 0; i < 10; ++i) Batch(limit, 1, 1);
  EXPECT_EQ(limit.Of(1e-3), MeasureOptions().execution_seconds_limit);
}

TEST(ExecutionLimit, StaysIfItIsGiven) {
  ExecutionLimit limit(0.25);
  Batch(limit, 4, 4);
  EXPECT_EQ(limit.Of(1e-3), 0.25);
}

TEST(ExecutionLimit, LeavesBaselinesAndWhatIsNearlyAsFastAlone) {
  const ExecutionLimit limit(0.25);
  EXPECT_EQ(limit.Of(std::nullopt), MeasureOptions().execution_seconds_limit);
  EXPECT_EQ(limit.Of(6), 12);
}

}  // namespace
}  // namespace attune
