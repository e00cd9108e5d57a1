// Which system calls a sandboxed process may make. Each case runs in a process of its own.
#include "base/process/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/sanitized.h"

namespace attune {
namespace {

// The status with which a process ends that runs `body` and exits with what it returns; -1 where it is killed
// by SIGSYS.
int StatusOf(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  EXPECT_EQ(WTERMSIG(status), SIGSYS);
  return -1;
}

int StatusOfComputing(const std::function<int()>& body) {
  return StatusOf([&] { return ForbidAllButComputing() ? body() : 99; });
}

class ComputingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kIsSanitized) GTEST_SKIP() << "sanitizers have no filter";
  }
};

TEST_F(ComputingTest, HasMemoryThreadsAndOpenFiles) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const auto body = [&] {
    std::vector<char> memory(64 << 20, 1);
    int sum = 0;
    std::thread([&] { sum = memory[0] + memory.back(); }).join();
    const rlimit limit = {1000, RLIM_INFINITY};
    if (setrlimit(RLIMIT_CPU, &limit) != 0) return 1;
    return write(pipe_ends[1], memory.data(), 1) == 1 && read(pipe_ends[0], memory.data(), 1) == 1 ? sum : 2;
  };
  EXPECT_EQ(StatusOfComputing(body), 2);
}

TEST_F(ComputingTest, ChangesNoFolder) {
  EXPECT_EQ(StatusOfComputing([] { return unlink("/tmp/none"); }), -1);
  EXPECT_EQ(StatusOfComputing([] { return mkdir("/tmp/none", 0700); }), -1);
}

TEST_F(ComputingTest, HasNoExecutableMemory) {
  const auto body = [] {
    void* memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return 1;
    return mprotect(memory, 4096, PROT_READ | PROT_EXEC) < 0 ? errno : 0;
  };
  EXPECT_EQ(StatusOfComputing(body), EACCES);
}

TEST_F(ComputingTest, StartsNoProcessAndNoConnection) {
  EXPECT_EQ(StatusOfComputing([] { return fork() < 0 ? 1 : 0; }), -1);
  EXPECT_EQ(StatusOfComputing([] { return execl("/bin/true", "true", nullptr); }), -1);
  EXPECT_EQ(StatusOfComputing([] { return socket(AF_INET, SOCK_STREAM, 0); }), -1);
}

TEST_F(ComputingTest, SendsNoSignalToOthers) {
  EXPECT_EQ(StatusOfComputing([parent = getpid()] { return kill(parent, 0); }), -1);
  EXPECT_EQ(StatusOfComputing([] {
              signal(SIGABRT, [](int) { _exit(7); });
              std::abort();
              return 0;
            }),
            7);
}

TEST(ForbidFiles, LeavesAnonymousFilesAlone) {
  constexpr int kNoLandlock = 200;
  const auto opens = [](const char* path, int flags) {
    return StatusOf([&] {
      if (!ForbidFiles().ok()) return kNoLandlock;
      return open(path, flags) < 0 ? errno : 0;
    });
  };
  const int memory = memfd_create("anonymous", 0);
  const std::string path = "/proc/self/fd/" + std::to_string(memory);
  const int read = opens("/etc/passwd", O_RDONLY);
  if (read == kNoLandlock) GTEST_SKIP() << "the system has no Landlock";
  EXPECT_EQ(read, EACCES);
  EXPECT_EQ(opens("/tmp/none", O_WRONLY | O_CREAT), EACCES);
  EXPECT_EQ(opens(path.c_str(), O_RDWR), 0);
  close(memory);
}

TEST(ReportCrashes, ReportsThatTheProcessorTimeIsUsed) {
  EXPECT_EQ(StatusOf([] {
              ReportCrashes([](const Crash& crash) { _exit(crash.signal == SIGXCPU ? 7 : 8); });
              raise(SIGXCPU);
              return 0;
            }),
            7);
}

}  // namespace
}  // namespace attune
