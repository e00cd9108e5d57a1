#include "runtime/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace attune {
namespace {

constexpr uint64_t kStride = 128;
constexpr int32_t kMaxLaunchThreads = 5;

// The data of the kernels below: a loop with one iteration per element of `runs`.
struct Loop {
  std::vector<int32_t> runs;  // by iteration
  std::atomic<int32_t> done = 0;
  int32_t threads = 1;
};

struct Iterations {
  int64_t begin, end;
};

// The iterations of a part, split in the same way as in compiled kernels.
Iterations IterationsOf(const Loop& loop, int32_t part, int32_t parts) {
  const auto n = static_cast<int64_t>(loop.runs.size());
  return {part * n / parts, (part + 1) * n / parts};
}

Loop& LoopOf(void* const* buffers) { return *static_cast<Loop*>(buffers[0]); }

// The call with the loop's third iteration fails.
int32_t CountIterations(void* const* buffers, int64_t*, void* scratch, int32_t part, int32_t parts) {
  Loop& loop = LoopOf(buffers);
  const auto [begin, end] = IterationsOf(loop, part, parts);
  auto* last = static_cast<int64_t*>(scratch);
  for (int64_t i = begin; i < end; ++i) {
    *last = i;  // a race if threads shared scratch
    ++loop.runs[static_cast<size_t>(i)];
    if (*last != i) return 43;
  }
  return begin <= 2 && 2 < end ? 42 : 0;
}

class ThreadPoolTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(ThreadPool::Get(kMaxLaunchThreads, &pool_).ok()); }

  int32_t Run(KernelFunction kernel, Loop& loop, int32_t threads) {
    loop.threads = threads;
    void* buffers[] = {&loop};
    return pool_->Run({kernel, buffers, nullptr, scratch_.get(), kStride, threads});
  }

  std::shared_ptr<ThreadPool> pool_;
  DeviceMemory scratch_ = CpuDevice().Allocate(kMaxLaunchThreads * kStride);
};

TEST_F(ThreadPoolTest, RunsEachIterationOnceAndReportsAFailure) {
  std::shared_ptr<ThreadPool> smaller;
  ASSERT_TRUE(ThreadPool::Get(2, &smaller).ok());
  EXPECT_EQ(pool_, smaller);  // one per process
  for (const int32_t threads : {1, 2, 3, 5, 5, 2}) {
    for (const size_t n : {0, 1, 2, 3, 7, 16, 100, 1000}) {
      Loop loop{.runs = std::vector<int32_t>(n)};
      EXPECT_EQ(Run(CountIterations, loop, threads), n > 2 ? 42 : 0);
      EXPECT_EQ(loop.runs, std::vector<int32_t>(n, 1)) << threads << " threads";
    }
  }
}

TEST_F(ThreadPoolTest, ManyLaunchesOfAllSizes) {
  Loop loop{.runs = std::vector<int32_t>(40)};
  pool_->BeginRun();
  for (int i = 0; i < 5000; ++i) Run(CountIterations, loop, 1 + i % kMaxLaunchThreads);
  pool_->EndRun();
  EXPECT_EQ(loop.runs, std::vector<int32_t>(40, 5000));
}

// Waits until all iterations except `waiting` have finished: for ever, if no other thread runs them.
void AwaitOthers(Loop& loop, int64_t waiting) {
  while (loop.done.load() < static_cast<int64_t>(loop.runs.size()) - waiting) std::this_thread::yield();
}

// The call with the first iteration of the last thread's range waits for all others.
int32_t LastRangeIsSlow(void* const* buffers, int64_t*, void*, int32_t part, int32_t parts) {
  Loop& loop = LoopOf(buffers);
  const auto [begin, end] = IterationsOf(loop, part, parts);
  const int64_t slow = IterationsOf(loop, loop.threads - 1, loop.threads).begin;
  if (begin <= slow && slow < end) AwaitOthers(loop, end - begin);
  loop.done += static_cast<int32_t>(end - begin);
  return 0;
}

// The same for the first thread's range.
int32_t FirstRangeIsSlow(void* const* buffers, int64_t*, void*, int32_t part, int32_t parts) {
  Loop& loop = LoopOf(buffers);
  const auto [begin, end] = IterationsOf(loop, part, parts);
  if (begin == 0 && end > 0) AwaitOthers(loop, end);
  loop.done += static_cast<int32_t>(end - begin);
  return 0;
}

TEST_F(ThreadPoolTest, OthersRunWhatASlowThreadHasNotBegun) {
  for (const int32_t threads : {2, 3, 5}) {
    for (const KernelFunction kernel : {FirstRangeIsSlow, LastRangeIsSlow}) {
      Loop loop{.runs = std::vector<int32_t>(64)};
      EXPECT_EQ(Run(kernel, loop, threads), 0) << threads << " threads";
      EXPECT_EQ(loop.done, 64);
    }
  }
}

// The first call of every thread waits for the first calls of all threads; `runs` marks the iterations at
// which first calls begin.
int32_t MeetInTheFirstCall(void* const* buffers, int64_t*, void* scratch, int32_t part, int32_t parts) {
  Loop& loop = LoopOf(buffers);
  auto* calls = static_cast<int32_t*>(scratch);
  if (++*calls > 1) return 0;
  loop.runs[static_cast<size_t>(IterationsOf(loop, part, parts).begin)] = 1;
  ++loop.done;
  while (loop.done < loop.threads) std::this_thread::yield();
  return 0;
}

TEST_F(ThreadPoolTest, EachThreadBeginsWithItsOwnRange) {
  for (const int32_t threads : {2, 4}) {
    scratch_ = CpuDevice().Allocate(kMaxLaunchThreads * kStride);
    Loop loop{.runs = std::vector<int32_t>(64)};
    EXPECT_EQ(Run(MeetInTheFirstCall, loop, threads), 0);
    for (int32_t i = 0; i < 64; ++i) EXPECT_EQ(loop.runs[static_cast<size_t>(i)], i % (64 / threads) == 0);
  }
}

// The call with the first iteration waits for `done`.
int32_t WaitForDone(void* const* buffers, int64_t*, void*, int32_t part, int32_t) {
  if (part == 0) LoopOf(buffers).done.wait(0);
  return 0;
}

TEST_F(ThreadPoolTest, ALaunchThatFindsThePoolTakenRunsAlone) {
  Loop waiting{.runs = std::vector<int32_t>(1)};
  std::thread taker([&] { Run(WaitForDone, waiting, 2); });

  // Every launch ends before the taker does, whether or not the taker has begun.
  Loop loop{.runs = std::vector<int32_t>(30)};
  for (int i = 0; i < 2000; ++i) EXPECT_EQ(Run(CountIterations, loop, 3), 42);
  EXPECT_EQ(loop.runs, std::vector<int32_t>(30, 2000));
  waiting.done = 1;
  waiting.done.notify_all();
  taker.join();
}

}  // namespace
}  // namespace attune
