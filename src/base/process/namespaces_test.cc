// Which part of the system a process in namespaces of its own sees. Each case runs in a process of its own.
#include "base/process/namespaces.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

namespace attune {
namespace {

constexpr int kNotGiven = 200;

int ExitStatusOf(pid_t child) {
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << status;
  return WEXITSTATUS(status);
}

// The status with which a process ends that runs `body` and exits with what it returns.
int StatusOf(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  return ExitStatusOf(child);
}

// In namespaces, and without files; kNotGiven if the system gives neither.
int StatusWithoutFiles(const std::function<int()>& body) {
  return StatusOf([&] { return EnterNamespaces().ok() && LeaveFiles().ok() ? body() : kNotGiven; });
}

#define SKIP_IF_NOT_GIVEN(status) \
  if ((status) == kNotGiven) GTEST_SKIP() << "the system does not give what is tested"

TEST(Namespaces, ReachNoNetwork) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(listen(listener, 1), 0);
  ASSERT_EQ(getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const auto connects = [&] {
    const int client = socket(AF_INET, SOCK_STREAM, 0);
    return connect(client, reinterpret_cast<sockaddr*>(&address), size) == 0 ? 0 : errno;
  };
  const int outside = StatusOf(connects);
  const int inside = StatusOf([&] { return EnterNamespaces().ok() ? connects() : kNotGiven; });
  close(listener);
  EXPECT_EQ(outside, 0);
  SKIP_IF_NOT_GIVEN(inside);
  EXPECT_EQ(inside, ENETUNREACH);
}

TEST(LeaveFiles, LeavesAnEmptyFolderThatStaysEmpty) {
  const auto opens = [](const char* path, int flags) {
    return StatusWithoutFiles([&] { return open(path, flags, 0600) < 0 ? errno : 0; });
  };
  const int read = opens("/etc/passwd", O_RDONLY);
  SKIP_IF_NOT_GIVEN(read);
  EXPECT_EQ(read, ENOENT);
  EXPECT_EQ(opens("/proc/self/status", O_RDONLY), ENOENT);
  EXPECT_EQ(opens("../../etc/passwd", O_RDONLY), ENOENT);
  EXPECT_EQ(opens("/file", O_WRONLY | O_CREAT), EROFS);
}

TEST(LeaveFiles, LeavesOpenFilesAlone) {
  const int file = memfd_create("anonymous", 0);
  const int status = StatusWithoutFiles([&] { return write(file, "x", 1) == 1 ? 0 : errno; });
  char letter = 0;
  const ssize_t got = pread(file, &letter, 1, 0);
  close(file);
  SKIP_IF_NOT_GIVEN(status);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(got, 1);
}

TEST(LeaveFiles, NeedsNamespacesOrASuperuser) {
  // A failure leaves the process's files where they are.
  EXPECT_EQ(StatusOf([] {
              GiveUpCapabilities();
              return !LeaveFiles().ok() && open("/proc/self/status", O_RDONLY) >= 0 ? 0 : 1;
            }),
            0);
}

// Runs `body` in a process that is alone.
int StatusAlone(const std::function<int()>& body) {
  return StatusOf([&] {
    if (!EnterNamespaces().ok()) return kNotGiven;
    const pid_t child = ForkAlone();
    if (child == 0) _exit(getpid() == 1 ? body() : kNotGiven);
    return ExitStatusOf(child);
  });
}

TEST(ForkAlone, MakesAProcessThatCanNameNoOther) {
  const pid_t test = getpid();
  const int status = StatusAlone([&] {
    if (getppid() != 0) return 1;
    if (kill(test, 0) == 0 || errno != ESRCH) return 2;
    return kill(-1, SIGKILL) == 0 || errno != ESRCH ? 3 : 0;
  });
  SKIP_IF_NOT_GIVEN(status);
  EXPECT_EQ(status, 0);
}

TEST(ForkAlone, EndsAllThatItHasStarted) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const int status = StatusAlone([&] {
    for (int child = 0; child < 3; ++child) {
      if (fork() == 0) {
        while (true) pause();
      }
    }
    return 0;
  });
  close(ends[1]);
  if (status != kNotGiven) {
    char byte = 0;
    EXPECT_EQ(read(ends[0], &byte, 1), 0) << "ends when no process has the other end";
  }
  close(ends[0]);
  SKIP_IF_NOT_GIVEN(status);
  EXPECT_EQ(status, 0);
}

TEST(ForkAlone, WorksWithoutNamespaces) {
  EXPECT_EQ(StatusOf([] {
              GiveUpCapabilities();
              const pid_t child = ForkAlone();
              if (child == 0) _exit(7);
              return ExitStatusOf(child);
            }),
            7);
}

TEST(GiveUpCapabilities, TakesThoseOfASuperuser) {
  EXPECT_EQ(StatusOf([] {
              if (!GiveUpCapabilities()) return 1;
              return unshare(CLONE_NEWNS) < 0 && errno == EPERM ? 0 : 2;
            }),
            0);
}

}  // namespace
}  // namespace attune
