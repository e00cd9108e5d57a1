#include "fleet/serving/file_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/testing/manual_clock.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

class FileCallsTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<FileCalls::Call>> Begin(const std::string& member) {
    return calls_.Begin({.role = FleetRole::kRunner, .owner = "ann", .id = member}, [this] { ++cancelled_; });
  }

  ManualClock clock_;
  int cancelled_ = 0;
  FileCalls calls_{{.of_member = 2, .in_all = 3, .idle_seconds = 60}, clock_};
};

TEST_F(FileCallsTest, AMemberAndAllTogetherHaveAFewAtATime) {
  auto first = Begin("one");
  const auto second = Begin("one");
  ASSERT_TRUE(first.ok() && second.ok());
  const absl::Status refused = Begin("one").status();
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_THAT(refused.message(), HasSubstr("at most 2 files at a time"));
  const auto other = Begin("two");
  EXPECT_TRUE(other.ok()) << other.status();
  EXPECT_TRUE(absl::IsUnavailable(Begin("three").status()));
  EXPECT_EQ(calls_.count(), 3);
  first->reset();
  EXPECT_EQ(calls_.count(), 2);
  EXPECT_TRUE(Begin("one").ok());
}

TEST_F(FileCallsTest, ACallWhosePeerSaysNothingIsCancelled) {
  const auto call = Begin("one"), working = Begin("two");
  ASSERT_TRUE(call.ok() && working.ok());
  for (int i = 0; i < 10; ++i) {
    const bool done = (*call)->Await([&] {
      clock_.Advance(59);
      calls_.CancelIdle();
      return i % 2 == 0;
    });
    EXPECT_EQ(done, i % 2 == 0);
  }
  // A call that checks what has come does not wait for its peer.
  clock_.Advance(1000);
  calls_.CancelIdle();
  EXPECT_EQ(cancelled_, 0);
  EXPECT_FALSE((*call)->Await([&] {
    clock_.Advance(61);
    calls_.CancelIdle();
    return false;
  }));
  EXPECT_EQ(cancelled_, 1);
}

}  // namespace
}  // namespace attune
