#include "base/parallel.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <set>
#include <thread>
#include <vector>

#include "base/processor_set.h"
#include "base/testing/no_threads.h"

namespace attune {
namespace {

TEST(ParallelFor, CallsEachIndexOnce) {
  for (const int64_t count : {0, 1, 2, 1000}) {
    std::vector<int> calls(static_cast<size_t>(count));
    ParallelFor(count, [&](int64_t i) { ++calls[static_cast<size_t>(i)]; }, /*max_threads=*/4);
    EXPECT_EQ(calls, std::vector<int>(static_cast<size_t>(count), 1));
  }
}

// There are at most as many threads as processors, however many loops run.
TEST(ParallelFor, LoopsShareThreads) {
  std::mutex mutex;
  std::set<std::thread::id> threads;
  for (int loop = 0; loop < 20 || std::ssize(threads) < std::min(2, Processors()); ++loop) {
    ParallelFor(
        8,
        [&](int64_t) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          const std::lock_guard<std::mutex> lock(mutex);
          threads.insert(std::this_thread::get_id());
        },
        /*max_threads=*/100);
  }
  EXPECT_LE(std::ssize(threads), Processors());
}

TEST(ParallelFor, OneThreadIsTheCallers) {
  const std::thread::id caller = std::this_thread::get_id();
  ParallelFor(100, [&](int64_t) { EXPECT_EQ(std::this_thread::get_id(), caller); }, /*max_threads=*/1);
}

TEST(ParallelFor, LoopsStandInLoopsOfSeveralThreads) {
  std::atomic<int> calls = 0;
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 4; ++i) {
      callers.emplace_back([&] {
        ParallelFor(
            8, [&](int64_t) { ParallelFor(8, [&](int64_t) { ParallelFor(4, [&](int64_t) { ++calls; }); }); });
      });
    }
  }
  EXPECT_EQ(calls, 4 * 8 * 8 * 4);
}

TEST(ParallelFor, RunningOutOfMemoryIsThrown) {
  std::atomic<int> calls = 0;
  const auto fail = [&](int64_t) {
    ++calls;
    throw std::bad_alloc();
  };
  EXPECT_THROW(ParallelFor(1000, fail), std::bad_alloc);
  EXPECT_LE(calls, Processors());
}

TEST(ParallelFor, HelpersRunWhereTheCallerMay) {
  const ProcessorSet before = ProcessorSet::OfThisThread();
  ProcessorSet first;
  for (int processor = kMaxProcessors - 1; processor >= 0; --processor) {
    if (before.Has(processor)) first = ProcessorSet(std::array{processor});
  }
  for (const ProcessorSet& processors : {before, first, before}) {
    ASSERT_TRUE(processors.GiveToThisThread());
    ParallelFor(
        8,
        [&](int64_t) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
          EXPECT_TRUE(ProcessorSet::OfThisThread() == processors);
        },
        /*max_threads=*/4);
  }
}

// Runs in child processes, since this process already has threads.
TEST(ParallelForDeathTest, TheCallerDoesAllWhereThereAreNoThreads) {
  EXPECT_EXIT(
      {
        const testing::NoThreads none;
        int sum = 0;
        ParallelFor(4, [&](int64_t i) { sum += static_cast<int>(i); }, /*max_threads=*/4);
        _exit(sum);
      },
      ::testing::ExitedWithCode(6), "");
}

TEST(ParallelForDeathTest, AChildHasThreadsOfItsOwn) {
#if __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the thread sanitizer ends children that start threads";
#endif
  // The child is forked in the middle of a loop, while the pool's threads are at work.
  ParallelFor(2, [&](int64_t i) {
    if (i != 0) return;
    EXPECT_EXIT(
        {
          std::atomic<int> sum = 0;
          ParallelFor(10, [&](int64_t j) { sum += static_cast<int>(j); });
          _exit(sum);
        },
        ::testing::ExitedWithCode(45), "");
  });
}

}  // namespace
}  // namespace attune
