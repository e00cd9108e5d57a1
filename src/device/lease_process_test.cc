// Leases held by several processes.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "base/testing/temporary_folder.h"
#include "device/lease.h"
#include "device/leases_for_test.h"

namespace attune {
namespace {

// A child process that runs `run`, and ends at the latest when this object is destroyed.
class Child {
 public:
  template <typename F>
  explicit Child(F run) {
    EXPECT_EQ(pipe(pipe_.data()), 0);
    pid_ = fork();
    if (pid_ != 0) return;
    run([this] { EXPECT_EQ(write(pipe_[1], "x", 1), 1); });
    _exit(0);
  }
  ~Child() {
    Kill();
    for (const int end : pipe_) close(end);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void AwaitSignal() {
    char byte = 0;
    EXPECT_EQ(read(pipe_[0], &byte, 1), 1);
  }
  void Kill() {
    if (pid_ < 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  std::array<int, 2> pipe_ = {-1, -1};
  pid_t pid_ = -1;
};

TEST(DeviceLeases, HoldAcrossProcessesAndEndWithThem) {
  const testing::TemporaryFolder folder;
  const DeviceLeases leases = MustOpen(folder / "leases");
  for (const bool is_exclusive : {true, false}) {
    Child child([&](auto signal) {
      const auto lease = is_exclusive ? leases.AcquireExclusive(1) : leases.AcquireShared(1);
      signal();
      pause();
    });
    child.AwaitSignal();
    EXPECT_EQ(leases.AcquireExclusive(1, Isolation::kDevice, kNoWait).status().code(),
              absl::StatusCode::kDeadlineExceeded);
    EXPECT_EQ(leases.AcquireShared(1, kNoWait).ok(), !is_exclusive);
    child.Kill();
    EXPECT_TRUE(leases.AcquireExclusive(1, Isolation::kDevice, kNoWait).ok());
  }
}

TEST(DeviceLeases, WhoWaitsToTimeInAnotherProcessGoesFirst) {
  const testing::TemporaryFolder folder;
  const DeviceLeases leases = MustOpen(folder / "leases");
  std::optional<DeviceLease> building = *leases.AcquireShared(1);
  Child child([&](auto signal) {
    int sleeps = 0;
    const DeviceLeases own = MustOpen(folder / "leases", {&SystemClock(), [&](double) {
                                                            if (++sleeps == 1) signal();
                                                            usleep(100);
                                                          }});
    const auto lease = own.AcquireExclusive(1);
    signal();
    pause();
  });
  child.AwaitSignal();  // it waits
  EXPECT_FALSE(leases.AcquireShared(1, kNoWait).ok());
  building.reset();
  child.AwaitSignal();  // it has the lease
  EXPECT_FALSE(leases.AcquireShared(1, kNoWait).ok());
  child.Kill();
  EXPECT_TRUE(leases.AcquireShared(1, kNoWait).ok());
}

// A released lease is free for others, even though a child that was forked meanwhile has the file open.
TEST(DeviceLeases, AChildDoesNotKeepWhatItsParentReleases) {
  const testing::TemporaryFolder folder;
  const DeviceLeases leases = MustOpen(folder / "leases");
  std::optional<DeviceLease> lease = *leases.AcquireExclusive(1);
  const Child child([](auto) { pause(); });
  lease.reset();
  EXPECT_TRUE(leases.AcquireExclusive(1, Isolation::kDevice, kNoWait).ok());
}

}  // namespace
}  // namespace attune
