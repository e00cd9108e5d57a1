#include "tune/task/reference_data.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "measure/reference_data.h"
#include "tune/task/tasks_for_test.h"

namespace attune {
namespace {

TEST(ReferenceData, NobodyCanChangeIt) {
  const auto blob = MakeReferenceData(MakeTask(kReluTask));
  ASSERT_TRUE(blob.ok()) << blob.status();
  const auto file = blob->Open();
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file->get(), 0), MAP_FAILED);
  void* memory = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file->get(), 0);
  ASSERT_NE(memory, MAP_FAILED);
  EXPECT_NE(mprotect(memory, 4096, PROT_READ | PROT_WRITE), 0);
  munmap(memory, 4096);
  EXPECT_LT(pwrite(file->get(), "x", 1, 0), 0);
  EXPECT_NE(ftruncate(file->get(), 0), 0);
  EXPECT_TRUE(ReferenceData::Map(file->get()).ok());
}

// A process that another thread starts in the meantime, as a builder does, has a copy of all mappings for a
// while.
TEST(ReferenceData, IsMadeWhileProcessesAreStarted) {
  const TuningTask task = MakeTask(kReluTask);
  std::atomic<bool> is_over = false;
  std::thread other([&] {
    while (!is_over) {
      const pid_t child = fork();
      if (child == 0) {
        usleep(2000);
        _exit(0);
      }
      waitpid(child, nullptr, 0);
    }
  });
  for (int i = 0; i < 100; ++i) {
    const auto blob = MakeReferenceData(task);
    EXPECT_TRUE(blob.ok()) << blob.status();
  }
  is_over = true;
  other.join();
}

}  // namespace
}  // namespace attune
