#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "service/queue/runner_hub.h"

namespace attune {
namespace {

constexpr double kLong = 3600;

TEST(RunnerEventsTest, EventsComeOnceAndInTheirOrder) {
  RunnerEvents events;
  events.Push({1, RunnerLost{"first"}});
  events.Push({2, RunnerLost{"second"}});
  const std::vector<RunnerEvent> taken = events.Await(kLong);
  ASSERT_EQ(taken.size(), 2);
  EXPECT_EQ(taken[0].runner, 1);
  EXPECT_EQ(taken[1].runner, 2);
  EXPECT_TRUE(events.Await(0).empty());
}

TEST(RunnerEventsTest, AWakeUpBeforeTheWaitCounts) {
  RunnerEvents events;
  events.Wake();
  EXPECT_TRUE(events.Await(kLong).empty());
}

TEST(RunnerEventsTest, TheWaiterIsWoken) {
  RunnerEvents events;
  std::thread other([&] {
    events.Push({1, RunnerLost{"gone"}});
    events.Wake();
  });
  EXPECT_EQ(events.Await(kLong).size(), 1);
  other.join();
}

TEST(RunnerEventsTest, ForgetsWhatCameBefore) {
  RunnerEvents events;
  events.Push({1, RunnerLost{"gone"}});
  events.Clear();
  EXPECT_TRUE(events.Await(0).empty());
}

}  // namespace
}  // namespace attune
