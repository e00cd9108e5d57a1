#include "base/threads.h"

#include <gtest/gtest.h>

#include <atomic>

#include "base/parallel.h"
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

TEST(ParallelForTest, TheCallerDoesAllWhereThereAreNoThreads) {
  const testing::NoThreads none;
  int sum = 0;
  ParallelFor(4, [&](int64_t i) { sum += static_cast<int>(i); }, /*max_threads=*/4);
  EXPECT_EQ(sum, 6);
}

}  // namespace
}  // namespace attune
