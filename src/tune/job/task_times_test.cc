#include "tune/job/task_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Candidate Tile(int64_t width) { return {"conv_direct", {{"tile_w", width}}}; }

// The baseline takes 10 s, and tiles of width 2, 3 and 4 take 8, 6 and 12 s.
TaskTimes Measured() {
  TaskTimes times(Tile(1));
  times.SetBaseline({*Blob::Of("kernel"), "code of baseline", 10});
  EXPECT_TRUE(times.Add(Tile(1), 10));
  EXPECT_TRUE(times.Add(Tile(2), 8));
  EXPECT_TRUE(times.Add(Tile(3), 6));
  EXPECT_FALSE(times.Add(Tile(4), 12));
  return times;
}

TEST(TaskTimes, TheFastestIsTheBestUntilSomethingIsConfirmed) {
  TaskTimes times = Measured();
  EXPECT_EQ(times.best(), Tile(3));
  EXPECT_TRUE(times.is_tuned());
  EXPECT_FALSE(times.ConfirmedCode().has_value());
  times.Confirm(Tile(3), 11, /*is_faster=*/false, "code of 3");
  EXPECT_EQ(times.best(), Tile(1));
  EXPECT_EQ(times.best_seconds(), 10);
  EXPECT_EQ(times.least_seconds(), 8);
  EXPECT_FALSE(times.is_tuned());
  times.Confirm(Tile(2), 9, /*is_faster=*/true, "code of 2");
  EXPECT_EQ(times.best(), Tile(2));
  EXPECT_EQ(times.best_seconds(), 9);
  ASSERT_TRUE(times.ConfirmedCode().has_value());
  EXPECT_EQ(times.ConfirmedCode()->baseline, "code of baseline");
  EXPECT_EQ(times.ConfirmedCode()->best, "code of 2");
}

TEST(TaskTimes, OnlyWhatMayBeTheBestIsConfirmed) {
  EXPECT_THAT(TaskTimes(Tile(1)).ToConfirm(9, Tile(5)), IsEmpty());  // without a baseline
  TaskTimes times = Measured();
  EXPECT_THAT(times.ToConfirm(9, std::nullopt), ElementsAre(Tile(3), Tile(2)));
  EXPECT_THAT(times.ToConfirm(1, std::nullopt), ElementsAre(Tile(3)));
  times.Confirm(Tile(3), 7, /*is_faster=*/true, "code of 3");
  EXPECT_THAT(times.ToConfirm(9, std::nullopt), IsEmpty());  // the other one took longer
}

TEST(TaskTimes, WhatAnEarlierRunHasConfirmedIsConfirmedAgain) {
  TaskTimes times(Tile(1));
  times.SetBaseline({*Blob::Of("kernel"), "code", 10});
  EXPECT_THAT(times.ToConfirm(1, Tile(5)), ElementsAre(Tile(5)));
  EXPECT_THAT(times.ToConfirm(1, Tile(1)), IsEmpty());
  EXPECT_THAT(times.ToConfirm(0, Tile(5)), IsEmpty());
  times.Confirm(Tile(5), 12, /*is_faster=*/false, "");
  EXPECT_THAT(times.ToConfirm(1, Tile(5)), IsEmpty());
}

TEST(TaskTimes, TheBaselineMayBeMeasuredAgain) {
  TaskTimes times = Measured();
  times.Confirm(Tile(1), 11, /*is_faster=*/false, "code of baseline");
  EXPECT_EQ(times.baseline_seconds(), 11);
  EXPECT_EQ(times.best_seconds(), 11);
}

}  // namespace
}  // namespace attune
