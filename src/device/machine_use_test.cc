#include "device/machine_use.h"

#include <gtest/gtest.h>

#include <atomic>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace attune {
namespace {

TEST(MachineUse, NothingComputesWhileSomethingIsMeasured) {
  MachineUse use;
  std::atomic<int> computing = 0, measuring = 0, together = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        const std::shared_lock<MachineUse> lock(use);
        ++computing;
        if (measuring > 0) ++together;
        std::this_thread::yield();
        --computing;
      }
    });
  }
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        const std::unique_lock<MachineUse> lock(use);
        if (++measuring > 1 || computing > 0) ++together;
        std::this_thread::yield();
        --measuring;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(together, 0);
}

TEST(MachineUse, WhoWaitsToMeasureGoesBeforeThoseWhoComeLater) {
  MachineUse use;
  std::atomic<bool> has_measured = false, is_waiting = false;
  use.lock_shared();
  std::thread measurer([&] {
    is_waiting = true;
    use.lock();
    has_measured = true;
    use.unlock();
  });
  while (!is_waiting) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until it surely waits
  std::thread later([&] {
    use.lock_shared();
    EXPECT_TRUE(has_measured);
    use.unlock_shared();
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(has_measured);
  use.unlock_shared();
  measurer.join();
  later.join();
}

}  // namespace
}  // namespace attune
