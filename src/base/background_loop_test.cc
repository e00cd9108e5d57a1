#include "base/background_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "base/testing/await_that.h"
#include "base/testing/manual_clock.h"
#include "base/testing/no_threads.h"

namespace attune {
namespace {

using testing::AwaitThat;
using ::testing::ElementsAre;

// Stands still until it is moved, and counts how often it is read.
class WatchedClock final : public Clock {
 public:
  double Now() const override {
    ++looks_;
    return clock_.Now();
  }
  int64_t WallMillis() const override { return clock_.WallMillis(); }
  void Advance(double seconds) { clock_.Advance(seconds); }
  // Returns once a thread that waits has seen the present time, and waits again.
  void AwaitLooks() const {
    const int64_t before = looks_;
    AwaitThat([&] { return looks_ > before + 3; });
  }

 private:
  ManualClock clock_;
  mutable std::atomic<int64_t> looks_ = 0;
};

class BackgroundLoopTest : public ::testing::Test {
 protected:
  // A step that notes when it was called, and is due again in `pause_` seconds.
  double Step() {
    const std::lock_guard<std::mutex> lock(mutex_);
    times_.push_back(clock_.Now() - start_);
    return pause_;
  }
  std::vector<double> times() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return times_;
  }
  void AwaitSteps(size_t count) {
    AwaitThat([&] { return times().size() >= count; });
  }

  WatchedClock clock_;
  const double start_ = clock_.Now();
  double pause_ = BackgroundLoop::kUntilWoken;
  std::mutex mutex_;
  std::vector<double> times_;
  BackgroundLoop loop_{[this] { return Step(); }, clock_};
};

TEST_F(BackgroundLoopTest, StepsWhenItIsDue) {
  pause_ = 5;
  ASSERT_TRUE(loop_.Start(10).ok());
  clock_.Advance(9);
  clock_.AwaitLooks();
  EXPECT_THAT(times(), ElementsAre());
  clock_.Advance(1);
  AwaitSteps(1);
  clock_.AwaitLooks();
  clock_.Advance(4);
  clock_.AwaitLooks();
  EXPECT_THAT(times(), ElementsAre(10));
  clock_.Advance(1);
  AwaitSteps(2);
  EXPECT_THAT(times(), ElementsAre(10, 15));
}

TEST_F(BackgroundLoopTest, FirstStepComesAtOnceUnlessItIsDelayed) {
  ASSERT_TRUE(loop_.Start().ok());
  AwaitSteps(1);
  EXPECT_THAT(times(), ElementsAre(0));
}

TEST_F(BackgroundLoopTest, StepsWhenItIsWoken) {
  ASSERT_TRUE(loop_.Start().ok());
  AwaitSteps(1);
  clock_.Advance(1e9);
  clock_.AwaitLooks();
  EXPECT_EQ(times().size(), 1);
  loop_.Wake();
  AwaitSteps(2);
  clock_.AwaitLooks();
  EXPECT_EQ(times().size(), 2);
}

TEST_F(BackgroundLoopTest, WakingBringsADueStepForward) {
  pause_ = 5;
  ASSERT_TRUE(loop_.Start(10).ok());
  clock_.Advance(1);
  loop_.Wake();
  AwaitSteps(1);
  clock_.AwaitLooks();
  clock_.Advance(5);
  AwaitSteps(2);
  EXPECT_THAT(times(), ElementsAre(1, 6));
}

TEST_F(BackgroundLoopTest, CanBeWokenBeforeItIsStarted) {
  loop_.Wake();
  ASSERT_TRUE(loop_.Start(10).ok());
  AwaitSteps(1);
  clock_.AwaitLooks();
  EXPECT_THAT(times(), ElementsAre(0));
}

TEST_F(BackgroundLoopTest, IsStartedOnce) {
  ASSERT_TRUE(loop_.Start().ok());
  EXPECT_TRUE(absl::IsFailedPrecondition(loop_.Start()));
  loop_.Stop();
  EXPECT_TRUE(absl::IsFailedPrecondition(loop_.Start()));
}

TEST_F(BackgroundLoopTest, DoesNotStartAfterItsEnd) {
  loop_.Stop();
  loop_.Wake();
  EXPECT_TRUE(absl::IsFailedPrecondition(loop_.Start()));
  EXPECT_THAT(times(), ElementsAre());
}

TEST_F(BackgroundLoopTest, CanBeStartedAgainIfTheSystemHadNoThread) {
  {
    const testing::NoThreads none;
    EXPECT_TRUE(absl::IsResourceExhausted(loop_.Start()));
  }
  ASSERT_TRUE(loop_.Start().ok());
  AwaitSteps(1);
}

TEST_F(BackgroundLoopTest, StopsWhileItWaits) {
  ASSERT_TRUE(loop_.Start(10).ok());
  clock_.AwaitLooks();
  loop_.Stop();
  loop_.Stop();
  loop_.Wake();
  clock_.Advance(10);
  EXPECT_TRUE(loop_.is_stopped());
  EXPECT_THAT(times(), ElementsAre());
}

TEST_F(BackgroundLoopTest, MayBeStoppedBySeveralThreads) {
  pause_ = 0;
  ASSERT_TRUE(loop_.Start().ok());
  AwaitSteps(1);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      loop_.Stop();
      // The thread has ended, also for a second call.
      const size_t steps = times().size();
      loop_.Wake();
      EXPECT_EQ(times().size(), steps);
    });
  for (std::thread& thread : threads) thread.join();
}

// A loop whose steps take as long as the test wants, or until the loop is stopped.
struct LongSteps {
  WatchedClock clock;
  std::atomic<bool> may_end = false;
  std::atomic<int> begun = 0, ended = 0;
  BackgroundLoop loop{[this] {
                        ++begun;
                        AwaitThat([&] { return may_end || loop.is_stopped(); });
                        ++ended;
                        return BackgroundLoop::kUntilWoken;
                      },
                      clock};
};

TEST(BackgroundLoop, AStepFollowsIfTheLoopIsWokenDuringAnother) {
  LongSteps steps;
  ASSERT_TRUE(steps.loop.Start().ok());
  AwaitThat([&] { return steps.begun == 1; });
  for (int i = 0; i < 3; ++i) steps.loop.Wake();
  steps.may_end = true;
  AwaitThat([&] { return steps.ended == 2; });
  steps.clock.AwaitLooks();
  EXPECT_EQ(steps.begun, 2);
}

TEST(BackgroundLoop, StoppingWaitsForTheStepAndBeginsNoOther) {
  LongSteps steps;
  ASSERT_TRUE(steps.loop.Start().ok());
  AwaitThat([&] { return steps.begun == 1; });
  steps.loop.Wake();
  steps.loop.Stop();
  EXPECT_EQ(steps.ended, 1);
  EXPECT_EQ(steps.begun, 1);
}

TEST(BackgroundLoop, ItsDestructorWaitsForTheStep) {
  std::atomic<bool> has_begun = false, has_ended = false;
  {
    BackgroundLoop loop([&] {
      has_begun = true;
      AwaitThat([&] { return loop.is_stopped(); });
      has_ended = true;
      return BackgroundLoop::kUntilWoken;
    });
    ASSERT_TRUE(loop.Start().ok());
    AwaitThat([&] { return has_begun.load(); });
  }
  EXPECT_TRUE(has_ended);
}

TEST(BackgroundLoop, RunsByTheSystemsClock) {
  std::atomic<int> steps = 0;
  BackgroundLoop loop([&] { return ++steps < 5 ? 1e-3 : BackgroundLoop::kUntilWoken; });
  ASSERT_TRUE(loop.Start(1e-3).ok());
  AwaitThat([&] { return steps == 5; });
  loop.Wake();
  AwaitThat([&] { return steps == 6; });
}

// Threads that add items to a queue wake the loop for each.
TEST(BackgroundLoop, TakesEveryItemOfAQueue) {
  constexpr int kThreads = 4, kItems = 1000;
  std::mutex mutex;
  int waiting = 0;
  std::atomic<int> taken = 0;
  BackgroundLoop loop([&] {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      if (waiting == 0) return BackgroundLoop::kUntilWoken;
      --waiting;
    }
    ++taken;
    return 0.0;
  });
  ASSERT_TRUE(loop.Start().ok());
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < kItems; ++j) {
        {
          const std::lock_guard<std::mutex> lock(mutex);
          ++waiting;
        }
        loop.Wake();
      }
    });
  for (std::thread& thread : threads) thread.join();
  AwaitThat([&] { return taken == kThreads * kItems; });
}

}  // namespace
}  // namespace attune
