#include "device/run_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace attune {
namespace {

using ::testing::HasSubstr;

TEST(RunTimes, WhatIsNotComputedIsWaited) {
  EXPECT_DOUBLE_EQ((RunTimes{.wall_seconds = 2, .processor_seconds = 0.5}.waited_share()), 0.75);
  EXPECT_EQ((RunTimes{.wall_seconds = 1, .processor_seconds = 1.001}.waited_share()), 0);
  EXPECT_EQ(RunTimes().waited_share(), 0);
}

TEST(RunTimes, OnlyTheTimeBetweenBeginAndEndCounts) {
  RunWatch watch;
  watch.Begin();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  watch.End();
  const RunTimes once = watch.times();
  EXPECT_GT(once.wall_seconds, once.processor_seconds);
  EXPECT_GE(once.processor_seconds, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(watch.times().wall_seconds, once.wall_seconds);
  watch.Begin();
  watch.End();
  EXPECT_GE(watch.times().wall_seconds, once.wall_seconds);
}

TEST(RunTimes, ABusyMachineIsDescribedWithNumbers) {
  const RunTimes times = {.wall_seconds = 1.25, .processor_seconds = 0.5};
  EXPECT_THAT(DescribeDisturbance(times.waited_share(), times),
              HasSubstr("in 1.250 s of runs, their thread had a processor for 0.500 s (60 % waiting)"));
  EXPECT_THAT(DescribeDisturbance(0.25, {}), HasSubstr("waited for a processor 25 % of the time"));
  EXPECT_EQ(DescribeDisturbance(0.01, {}), "");
}

}  // namespace
}  // namespace attune
