#include "tune/records/known_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr auto kMeasured = KnownTime::Kind::kMeasured;
constexpr auto kConfirmed = KnownTime::Kind::kConfirmed;
constexpr auto kFailed = KnownTime::Kind::kFailed;

// Times are added one after the other, one millisecond apart.
class RankTimesTest : public ::testing::Test {
 protected:
  void Add(KnownTime::Kind kind, const std::string& config, const std::string& run, double seconds = 0,
           CacheMode cache = CacheMode::kNetwork) {
    times_.push_back({kind, config, run, cache, seconds, static_cast<int64_t>(times_.size())});
  }
  std::vector<size_t> Ranked() const { return RankTimes(times_); }

  std::vector<KnownTime> times_;
};

TEST_F(RankTimesTest, TheLatestOfAConfigCounts) {
  EXPECT_THAT(Ranked(), IsEmpty());
  Add(kMeasured, "x", "a", 0.7);
  Add(kMeasured, "y", "a", 0.9);
  Add(kMeasured, "x", "a", 1.1);
  EXPECT_THAT(Ranked(), ElementsAre(1, 2));
  times_[2].time_ms = -1;  // added later, but older
  EXPECT_THAT(Ranked(), ElementsAre(0, 1));
}

TEST_F(RankTimesTest, WhatWasConfirmedComesFirst) {
  Add(kMeasured, "x", "a", 0.7);
  Add(kMeasured, "y", "a", 0.9);
  Add(kConfirmed, "y", "a", 1.0);
  EXPECT_THAT(Ranked(), ElementsAre(2, 0));
  // A single time from a run that has confirmed nothing yet changes nothing.
  Add(kMeasured, "y", "b", 1.2);
  EXPECT_THAT(Ranked(), ElementsAre(2, 0, 3));
}

TEST_F(RankTimesTest, ALaterRunThatMeasuredItJudgesIt) {
  Add(kConfirmed, "x", "a", 0.9);
  Add(kMeasured, "x", "b", 1.0);
  Add(kConfirmed, "default", "b", 0.95);
  EXPECT_THAT(Ranked(), ElementsAre(2, 0, 1));
}

TEST_F(RankTimesTest, ARunThatHasNotMeasuredItDoesNotJudgeIt) {
  Add(kConfirmed, "x", "a", 0.9);
  Add(kConfirmed, "default", "b", 0.95);
  EXPECT_THAT(Ranked(), ElementsAre(0, 1));
}

TEST_F(RankTimesTest, OnADayWithASlowerClockWhatIsFoundBetterIsTaken) {
  Add(kConfirmed, "x", "a", 0.90);
  Add(kConfirmed, "second", "a", 0.92);
  Add(kMeasured, "x", "b", 1.08);
  Add(kConfirmed, "y", "b", 0.95);
  EXPECT_THAT(Ranked(), ElementsAre(3, 0, 1, 2));
}

TEST_F(RankTimesTest, AFailureEndsAConfigWhateverTheCaches) {
  Add(kConfirmed, "x", "a", 0.9);
  Add(kMeasured, "x", "a", 0.8, CacheMode::kWarm);
  Add(kMeasured, "y", "a", 1.0);
  Add(kFailed, "x", "b");
  times_[3].time_ms = 1;
  EXPECT_THAT(Ranked(), ElementsAre(2));
  Add(kMeasured, "x", "b", 0.95);  // it was repaired
  EXPECT_THAT(Ranked(), ElementsAre(4, 2));
}

TEST_F(RankTimesTest, OtherCachesDoNotReplaceATime) {
  Add(kConfirmed, "x", "a", 0.9, CacheMode::kNetwork);
  Add(kConfirmed, "x", "b", 0.7, CacheMode::kWarm);
  EXPECT_THAT(Ranked(), ElementsAre(1, 0));
}

}  // namespace
}  // namespace attune
