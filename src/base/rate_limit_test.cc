#include "base/rate_limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/manual_clock.h"

namespace attune {
namespace {

class RateLimitTest : public ::testing::Test {
 protected:
  // How many of ten attempts at once are admitted.
  int Admitted(RateLimit& limit, const std::string& address) const {
    int admitted = 0;
    for (int i = 0; i < 10; ++i) admitted += limit.Admit(address) == 0 ? 1 : 0;
    return admitted;
  }

  ManualClock clock_;
};

TEST_F(RateLimitTest, AdmitsSomeAtOnceThenOneAtATime) {
  RateLimit limit({.at_once = 5, .seconds_each = 10}, clock_);
  EXPECT_EQ(Admitted(limit, "ann"), 5);
  clock_.Advance(9);
  EXPECT_DOUBLE_EQ(limit.Admit("ann"), 1);
  clock_.Advance(1);
  EXPECT_EQ(Admitted(limit, "ann"), 1);
  clock_.Advance(25);
  EXPECT_EQ(Admitted(limit, "ann"), 2);
  clock_.Advance(1e6);
  EXPECT_EQ(Admitted(limit, "ann"), 5);
}

TEST_F(RateLimitTest, RoundingTakesNoAttempt) {
  RateLimit limit({.at_once = 5, .seconds_each = 0.1}, clock_);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(Admitted(limit, "ann"), 5) << clock_.Now();
    clock_.Advance(0.7);
  }
}

TEST_F(RateLimitTest, NobodyWaitsForOthers) {
  RateLimit limit({}, clock_);
  EXPECT_EQ(Admitted(limit, "ann"), 5);
  EXPECT_EQ(Admitted(limit, "bob"), 5);
  EXPECT_EQ(Admitted(limit, "ann"), 0);
}

TEST_F(RateLimitTest, ForgetsThoseWithTheFewestRecentAttempts) {
  RateLimit limit({.at_once = 5, .seconds_each = 10, .most_known = 2}, clock_);
  EXPECT_EQ(Admitted(limit, "ann"), 5);
  ASSERT_EQ(limit.Admit("bob"), 0);
  clock_.Advance(1);
  ASSERT_EQ(limit.Admit("cem"), 0);
  EXPECT_EQ(Admitted(limit, "ann"), 0);
  EXPECT_EQ(Admitted(limit, "cem"), 4);
  // The newest is remembered, however many there are.
  EXPECT_EQ(Admitted(limit, "bob"), 5);
}

TEST_F(RateLimitTest, GoodAttemptsDoNotCount) {
  RateLimit limit({.at_once = 2, .seconds_each = 10}, clock_);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(limit.Admit("192.0.2.1"), 0) << i;
    limit.Pardon("192.0.2.1");
  }
  EXPECT_EQ(limit.Admit("192.0.2.1"), 0);
  EXPECT_EQ(limit.Admit("192.0.2.1"), 0);
  EXPECT_GT(limit.Admit("192.0.2.1"), 0);
  limit.Pardon("192.0.2.2");  // has not tried
}

}  // namespace
}  // namespace attune
