#include "base/threads.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/testing/no_threads.h"

namespace attune {
namespace {

TEST(ThreadGroupTest, RunsEachThread) {
  std::atomic<int> runs = 0;
  {
    ThreadGroup threads;
    EXPECT_EQ(threads.Start(3, [&] { ++runs; }), 3);
  }
  EXPECT_EQ(runs, 3);
}

TEST(ThreadGroupTest, HasFewerThreadsWhereTheSystemHasNoMore) {
  const testing::NoThreads none;
  ThreadGroup threads;
  EXPECT_EQ(threads.Start(2, [] {}), 0);
}

}  // namespace
}  // namespace attune
