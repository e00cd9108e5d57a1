#include "runtime/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace attune {
namespace {

int32_t MarkPart(void* const* buffers, int64_t*, void* scratch, int32_t part, int32_t parts) {
  static_cast<int32_t*>(buffers[0])[part] += parts;
  *static_cast<int32_t*>(scratch) = part;  // a race, were scratch shared
  return part == 2 ? 42 : 0;
}

TEST(ThreadPoolTest, RunsEachPartOnceAndReportsAFailure) {
  std::shared_ptr<ThreadPool> pool;
  ASSERT_TRUE(ThreadPool::Get(5, &pool).ok());
  std::shared_ptr<ThreadPool> smaller;
  ASSERT_TRUE(ThreadPool::Get(2, &smaller).ok());
  EXPECT_EQ(pool, smaller);  // one a process
  const DeviceMemory scratch = CpuDevice().Allocate(5 * 128);
  for (const int32_t parts : {1, 2, 3, 5, 5, 2}) {
    int32_t marks[6] = {};
    void* buffers[] = {marks};
    const int32_t failure = pool->Run({MarkPart, buffers, nullptr, scratch.get(), 128, parts});
    EXPECT_EQ(failure, parts > 2 ? 42 : 0);
    for (int32_t part = 0; part < 6; ++part) EXPECT_EQ(marks[part], part < parts ? parts : 0);
  }
}

TEST(ThreadPoolTest, ManyLaunchesOfAllSizes) {
  std::shared_ptr<ThreadPool> pool;
  ASSERT_TRUE(ThreadPool::Get(4, &pool).ok());
  const DeviceMemory scratch = CpuDevice().Allocate(4 * 128);
  int32_t marks[4] = {};
  void* buffers[] = {marks};
  int32_t expected = 0;
  pool->BeginRun();
  for (int i = 0; i < 5000; ++i) {
    const int32_t parts = 1 + i % 4;
    pool->Run({MarkPart, buffers, nullptr, scratch.get(), 128, parts});
    expected += parts;
  }
  pool->EndRun();
  EXPECT_EQ(marks[0], expected);
  EXPECT_EQ(marks[3], 5000);  // a quarter of the launches, by 4
}

// Part 0 waits for the flag.
int32_t WaitForFlag(void* const* buffers, int64_t*, void*, int32_t part, int32_t) {
  if (part == 0) static_cast<std::atomic<bool>*>(buffers[0])->wait(false);
  return 0;
}

TEST(ThreadPoolTest, ALaunchThatFindsThePoolTakenRunsAlone) {
  std::shared_ptr<ThreadPool> pool;
  ASSERT_TRUE(ThreadPool::Get(3, &pool).ok());
  std::atomic<bool> flag = false;
  void* wait_buffers[] = {&flag};
  std::thread taker([&] { pool->Run({WaitForFlag, wait_buffers, nullptr, nullptr, 0, 2}); });

  // Whether or not the taker has begun, every launch ends before the flag is set.
  const DeviceMemory scratch = CpuDevice().Allocate(3 * 128);
  int32_t marks[3] = {};
  void* buffers[] = {marks};
  for (int i = 0; i < 2000; ++i) pool->Run({MarkPart, buffers, nullptr, scratch.get(), 128, 3});
  EXPECT_EQ(marks[0], 6000);
  EXPECT_EQ(marks[2], 6000);
  flag = true;
  flag.notify_all();
  taker.join();
}

}  // namespace
}  // namespace attune
