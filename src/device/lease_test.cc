#include "device/lease.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <mutex>
#include <numeric>
#include <thread>

#include "base/log.h"
#include "base/random.h"
#include "base/testing/manual_clock.h"
#include "base/testing/temporary_folder.h"
#include "device/leases_for_test.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string Message(const absl::Status& status) { return std::string(status.message()); }

TEST(DeviceLeases, NameTheProcessorsThatTheyGrantAndIsolate) {
  const testing::TemporaryFolder folder;
  const DeviceLeases leases = MustOpen(folder / "leases");
  {
    const auto lease = leases.AcquireExclusive(2, Isolation::kNone);
    EXPECT_THAT(lease->processors(), ElementsAre(6, 7));  // on two cores
    EXPECT_THAT(lease->isolated(), IsEmpty());
  }
  {
    const auto lease = leases.AcquireExclusive(2, Isolation::kCore);
    EXPECT_THAT(lease->processors(), ElementsAre(6, 7));
    EXPECT_THAT(lease->isolated(), ElementsAre(2, 3));
    // Beside the first lease, one that isolates fewer processors and is on the other cache.
    const auto second = leases.AcquireExclusive(3, Isolation::kCore, kNoWait);
    EXPECT_THAT(second->processors(), ElementsAre(1, 4, 5));
    EXPECT_THAT(second->isolated(), ElementsAre(0));
    EXPECT_FALSE(leases.AcquireShared(8, kNoWait).ok());
  }
  {
    const auto lease = leases.AcquireExclusive(1, Isolation::kCache);
    EXPECT_THAT(lease->processors(), ElementsAre(7));
    EXPECT_THAT(lease->isolated(), ElementsAre(2, 3, 6));
    EXPECT_THAT(leases.AcquireShared(8, kNoWait)->processors(), ElementsAre(0, 1, 4, 5));
    EXPECT_FALSE(leases.AcquireExclusive(1, Isolation::kDevice, kNoWait).ok());
  }
  const auto lease = leases.AcquireExclusive(5);
  EXPECT_THAT(lease->processors(), ElementsAre(3, 4, 5, 6, 7));
  EXPECT_THAT(lease->isolated(), ElementsAre(0, 1, 2));
}

TEST(DeviceLeases, GrantOnlyWhatMayBeUsedAndIsolateAll) {
  const testing::TemporaryFolder folder;
  DeviceInfo device = EightProcessors();
  device.usable = {1, 2, 5};
  const DeviceLeases leases = MustOpen(folder / "leases", {}, device);
  {
    const auto lease = leases.AcquireExclusive(2, Isolation::kCore);
    EXPECT_THAT(lease->processors(), ElementsAre(1, 5));  // they share a cache; 2 and 5 do not
    EXPECT_THAT(lease->isolated(), IsEmpty());
  }
  const auto lease = leases.AcquireExclusive(1);
  EXPECT_THAT(lease->isolated(), ElementsAre(0, 1, 2, 3, 4, 6, 7));
  const DeviceLeases others = MustOpen(folder / "leases");
  EXPECT_FALSE(others.AcquireShared(1, kNoWait).ok());
}

TEST(DeviceLeases, SharedOnesSpreadOverTheProcessors) {
  const testing::TemporaryFolder folder;
  const DeviceLeases leases = MustOpen(folder / "leases");
  const auto first = leases.AcquireShared(3), second = leases.AcquireShared(3),
             third = leases.AcquireShared(3);
  EXPECT_THAT(first->processors(), ElementsAre(0, 1, 2));
  EXPECT_THAT(second->processors(), ElementsAre(3, 4, 5));
  EXPECT_THAT(third->processors(), ElementsAre(0, 6, 7));
  EXPECT_FALSE(leases.AcquireExclusive(1, Isolation::kNone, kNoWait).ok());
}

TEST(DeviceLeases, EndWhenTheyAreReleasedAndMove) {
  const testing::TemporaryFolder folder;
  const DeviceLeases leases = MustOpen(folder / "leases");
  auto first = leases.AcquireExclusive(1);
  DeviceLease lease = *std::move(first);
  first->Release();  // NOLINT(bugprone-use-after-move): a lease that was moved from holds nothing
  EXPECT_FALSE(leases.AcquireExclusive(1, Isolation::kNone, kNoWait).ok());
  lease = *leases.AcquireShared(1, {.seconds = 0.01, .is_cancelled = [&] {
                                      lease.Release();
                                      return false;
                                    }});
  EXPECT_THAT(lease.processors(), ElementsAre(0));
  lease.Release();
  EXPECT_THAT(lease.processors(), IsEmpty());
  EXPECT_TRUE(leases.AcquireExclusive(8, Isolation::kDevice, kNoWait).ok());
}

TEST(DeviceLeases, WhatADeviceDoesNotHaveIsRefused) {
  const testing::TemporaryFolder folder;
  const DeviceLeases leases = MustOpen(folder / "leases");
  for (const int count : {-1, 0, 9}) {
    const absl::Status status = leases.AcquireExclusive(count).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(Message(status), HasSubstr("this device has 8 that may be used"));
  }
  EXPECT_TRUE(leases.AcquireShared(9).ok());
  DeviceInfo none = EightProcessors();
  none.usable.clear();
  EXPECT_THAT(Message(MustOpen(folder / "leases", {}, none).AcquireShared(1).status()),
              HasSubstr("this device has 0 that may be used"));
  for (const std::vector<int>& usable : {std::vector<int>{9}, {1, 0}, {1, 1}}) {
    DeviceInfo wrong = EightProcessors();
    wrong.usable = usable;
    EXPECT_FALSE(DeviceLeases::Open(wrong, folder / "leases").ok());
  }
  DeviceInfo wrong = EightProcessors();
  wrong.processors.back().number = kMaxProcessors;
  EXPECT_FALSE(DeviceLeases::Open(wrong, folder / "leases").ok());
}

// A clock that advances when someone sleeps; `then` is called after each sleep.
LeaseTime PassingTime(ManualClock& clock, std::function<void(int sleeps)> then) {
  return {&clock, [&clock, notify = std::move(then), sleeps = 0](double seconds) mutable {
            clock.Advance(seconds);
            notify(++sleeps);
          }};
}

std::vector<std::string> log_lines;

TEST(DeviceLeases, WaitingEndsAtADeadlineAndWhenItIsCancelled) {
  const testing::TemporaryFolder folder;
  ManualClock clock;
  const double start = clock.Now();
  int sleeps = 0;
  const DeviceLeases leases =
      MustOpen(folder / "leases", PassingTime(clock, [&](int count) { sleeps = count; }));
  const auto held = leases.AcquireExclusive(1);
  SetLogLevel(LogLevel::kInfo);
  const LogSink sink = SetLogSink([](LogLevel, std::string_view line) { log_lines.emplace_back(line); });
  absl::Status status = leases.AcquireExclusive(2, Isolation::kDevice, {.seconds = 60}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(Message(status), HasSubstr("waited 60 s for 2 processor(s) to time on"));
  SetLogSink(sink);
  SetLogLevel(LogLevel::kWarning);
  EXPECT_THAT(log_lines, ElementsAre(HasSubstr("waiting for a lease of=\"2 processor(s) to time on\"")));
  EXPECT_NEAR(clock.Now() - start, 60, 1e-6);
  EXPECT_GT(sleeps, 5000);
  status = leases.AcquireShared(1, {.is_cancelled = [&] { return clock.Now() > start + 100; }}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled);
  EXPECT_NEAR(clock.Now() - start, 100, 0.1);
}

TEST(DeviceLeases, WhoWaitsToTimeGoesBeforeThoseWhoComeLaterToCompute) {
  const testing::TemporaryFolder folder;
  ManualClock clock;
  const DeviceLeases others = MustOpen(folder / "leases");
  std::vector<DeviceLease> building;
  building.push_back(*others.AcquireShared(1));
  building.push_back(*others.AcquireShared(1));
  const auto later = [&](int sleeps) {
    EXPECT_EQ(others.AcquireShared(1, kNoWait).status().code(), absl::StatusCode::kDeadlineExceeded);
    if (sleeps % 3 == 0) building.pop_back();
  };
  const DeviceLeases leases = MustOpen(folder / "leases", PassingTime(clock, later));
  {
    const auto lease = leases.AcquireExclusive(1);
    EXPECT_TRUE(lease.ok()) << lease.status();
    EXPECT_THAT(building, IsEmpty());
  }
  EXPECT_TRUE(others.AcquireShared(1, kNoWait).ok());
}

TEST(DeviceLeases, OnlyTheProcessorsThatSomeoneWaitsForAreKeptFree) {
  const testing::TemporaryFolder folder;
  ManualClock clock;
  const DeviceLeases others = MustOpen(folder / "leases");
  std::optional<DeviceLease> building = *others.AcquireShared(8);
  const auto later = [&](int) {
    EXPECT_THAT(others.AcquireShared(8, kNoWait)->processors(), ElementsAre(0, 1, 2, 4, 5, 6));
    building.reset();
  };
  const DeviceLeases leases = MustOpen(folder / "leases", PassingTime(clock, later));
  EXPECT_THAT(leases.AcquireExclusive(1, Isolation::kCore)->processors(), ElementsAre(7));
}

// A second waiter marks other processors as wanted, if there are any; one that has given up marks none.
TEST(DeviceLeases, ASmallOneWaitsForALargeOneBeforeIt) {
  const testing::TemporaryFolder folder;
  ManualClock clock;
  const DeviceLeases others = MustOpen(folder / "leases");
  std::optional<DeviceLease> timing = *others.AcquireExclusive(4, Isolation::kCache);
  const auto later = [&](int sleeps) {
    if (sleeps > 1) timing.reset();
    EXPECT_FALSE(others.AcquireExclusive(1, Isolation::kNone, kNoWait).ok());
  };
  const DeviceLeases leases = MustOpen(folder / "leases", PassingTime(clock, later));
  EXPECT_TRUE(leases.AcquireExclusive(5).ok());
  EXPECT_THAT(others.AcquireShared(8, kNoWait)->processors().size(), 8);
}

TEST(DeviceLeases, AFileThatIsRemovedIsNoticed) {
  const testing::TemporaryFolder folder;
  ManualClock clock;
  const DeviceLeases others = MustOpen(folder / "leases");
  std::optional<DeviceLease> timing = *others.AcquireExclusive(1);
  const DeviceLeases leases = MustOpen(folder / "leases", PassingTime(clock, [&](int) {
                                         std::filesystem::remove(folder / "leases/processors");
                                         timing.reset();
                                       }));
  const auto lease = leases.AcquireExclusive(1);
  ASSERT_TRUE(lease.ok());
  EXPECT_FALSE(others.AcquireShared(1, kNoWait).ok());
}

// Which processors are in use, according to the holders of leases.
class Occupation {
 public:
  // The number of rules that the lease breaks.
  int Begin(const DeviceLease& lease, bool is_exclusive) {
    const std::lock_guard<std::mutex> lock(mutex_);
    int broken = 0;
    for (const int processor : lease.processors()) {
      Use& use = uses_[static_cast<size_t>(processor)];
      broken += use.timed + use.isolated + (is_exclusive ? use.computed : 0);
    }
    for (const int processor : lease.isolated()) {
      const Use& use = uses_[static_cast<size_t>(processor)];
      broken += use.timed + use.computed;
    }
    Count(lease, is_exclusive, 1);
    return broken;
  }
  void End(const DeviceLease& lease, bool is_exclusive) {
    const std::lock_guard<std::mutex> lock(mutex_);
    Count(lease, is_exclusive, -1);
  }

 private:
  struct Use {
    int timed = 0, isolated = 0, computed = 0;
  };

  void Count(const DeviceLease& lease, bool is_exclusive, int change) {
    for (const int processor : lease.processors()) {
      Use& use = uses_[static_cast<size_t>(processor)];
      (is_exclusive ? use.timed : use.computed) += change;
    }
    for (const int processor : lease.isolated()) uses_[static_cast<size_t>(processor)].isolated += change;
  }

  std::mutex mutex_;
  std::array<Use, 8> uses_;
};

TEST(DeviceLeases, RandomOnesNeverOverlap) {
  const testing::TemporaryFolder folder;
  const DeviceLeases leases = MustOpen(folder / "leases");
  constexpr int kThreads = 4, kRounds = 300;
  Occupation occupation;
  std::array<int, kThreads> broken = {}, granted = {};
  const auto use = [&](size_t thread) {
    Random random(thread);
    std::vector<std::pair<DeviceLease, bool>> held;
    for (int round = 0; round < kRounds; ++round) {
      const bool is_exclusive = random.Uniform() < 0.4;
      // A thread that holds a lease does not wait for another one, since it could wait for itself.
      const LeaseWait wait = {.seconds = held.empty() ? 10.0 : 0.0};
      const int count = static_cast<int>(random.Integer(1, 4));
      auto lease = is_exclusive
                       ? leases.AcquireExclusive(count, static_cast<Isolation>(random.Integer(0, 3)), wait)
                       : leases.AcquireShared(count, wait);
      if (lease.ok()) {
        ++granted[thread];
        broken[thread] += occupation.Begin(*lease, is_exclusive);
        held.emplace_back(*std::move(lease), is_exclusive);
      }
      while (!held.empty() && random.Uniform() < 0.6) {
        const auto ended = held.begin() + random.Integer(0, std::ssize(held) - 1);
        occupation.End(ended->first, ended->second);
        held.erase(ended);
      }
    }
    for (const auto& [lease, is_exclusive] : held) occupation.End(lease, is_exclusive);
  };
  {
    std::vector<std::jthread> threads;
    for (size_t thread = 0; thread < kThreads; ++thread) threads.emplace_back(use, thread);
  }
  EXPECT_EQ(std::accumulate(broken.begin(), broken.end(), 0), 0);
  EXPECT_GT(std::accumulate(granted.begin(), granted.end(), 0), kThreads * kRounds / 4);
}

}  // namespace
}  // namespace attune
