#include "tune/job/local_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

constexpr char kDeviceKey[] = "device/mock";

// Four processors on two cores, each with its own cache.
DeviceInfo MockDevice() {
  DeviceInfo device;
  device.fingerprint = "mock";
  for (int i = 0; i < 4; ++i) {
    device.usable.push_back(i);
    device.processors.push_back({.number = i, .core = i / 2 * 2, .cache = i / 2 * 2});
  }
  return device;
}

// Which processors are in use now, and whether a rule was ever broken.
class Usage {
 public:
  explicit Usage(std::vector<std::vector<int>> isolates) : isolates_(std::move(isolates)) {}

  // `processors` are the used ones; those that they isolate follow from them.
  void Begin(const std::vector<int>& processors, bool times) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const int p : processors) {
      if (timing_[p] > 0 || isolated_[p] > 0 || (times && computing_[p] > 0)) ++conflicts_;
      ++(times ? timing_ : computing_)[p];
      if (times) ++timed_;
    }
    Isolate(processors, times, 1);
  }
  void End(const std::vector<int>& processors, bool times) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const int p : processors) --(times ? timing_ : computing_)[p];
    Isolate(processors, times, -1);
  }
  int conflicts() const { return conflicts_; }
  int timed() const { return timed_; }

 private:
  void Isolate(const std::vector<int>& processors, bool times, int change) {
    for (const int p : processors) {
      for (const int other : isolates_[static_cast<size_t>(p)]) {
        const bool is_own = std::ranges::find(processors, other) != processors.end();
        if (!times || is_own) continue;
        if (change > 0 && (timing_[other] > 0 || computing_[other] > 0)) ++conflicts_;
        isolated_[other] += change;
      }
    }
  }

  const std::vector<std::vector<int>> isolates_;  // by processor
  std::mutex mutex_;
  int timing_[4] = {}, computing_[4] = {}, isolated_[4] = {};
  int conflicts_ = 0, timed_ = 0;
};

// Alternates between computing and timing.
class MockJob final : public Job {
 public:
  MockJob(Usage& usage, int stages, int threads) : usage_(usage), left_(stages), threads_(threads) {}

  const std::string& id() const override { return id_; }
  std::optional<JobStage> Next() const override {
    if (left_ == 0) return std::nullopt;
    JobStage stage;
    stage.name = times() ? "time" : "compute";
    stage.needs = {times() ? ResourceNeed{.key = kDeviceKey, .amount = threads_, .exclusive = true}
                           : ResourceNeed{.key = kProcessorsKey, .amount = 4}};
    return stage;
  }
  absl::Status Run(const JobGrant& grant) override {
    grants_.push_back(grant.processors);
    usage_.Begin(grant.processors, times());
    std::this_thread::yield();
    usage_.End(grant.processors, times());
    --left_;
    return absl::OkStatus();
  }
  void Cancel() override { is_cancelled_ = true; }
  double SpentSeconds() const override { return 0; }
  double RemainingSeconds() const override { return 0; }
  std::string Progress() const override { return ""; }
  std::string Result() const override { return "{}"; }

  bool is_cancelled() const { return is_cancelled_; }
  const std::vector<std::vector<int>>& grants() const { return grants_; }

 private:
  bool times() const { return left_ % 2 == 0; }

  const std::string id_ = "mock";
  Usage& usage_;
  int left_;
  const int threads_;
  std::atomic<bool> is_cancelled_ = false;
  std::vector<std::vector<int>> grants_;
};

class LocalDriverTest : public ::testing::Test {
 protected:
  DeviceLeases Open() {
    absl::StatusOr<DeviceLeases> leases = DeviceLeases::Open(MockDevice(), folder_.path());
    EXPECT_TRUE(leases.ok()) << leases.status();
    return *std::move(leases);
  }
  static void RunAll(MockJob& job, const DeviceLeases& leases, Isolation isolation) {
    while (job.Next().has_value()) {
      const absl::Status status = RunNextStage(job, leases, isolation, [&] { return job.is_cancelled(); });
      ASSERT_TRUE(status.ok()) << status;
    }
  }

  const testing::TemporaryFolder folder_;
};

TEST_F(LocalDriverTest, TwoJobsNeverTimeAtOnceWhereTheyWouldDisturbEachOther) {
  const std::vector<int> all = {0, 1, 2, 3};
  const std::pair<Isolation, std::vector<std::vector<int>>> cases[] = {
      {Isolation::kNone, {{}, {}, {}, {}}},
      {Isolation::kCache, {{0, 1}, {0, 1}, {2, 3}, {2, 3}}},
      {Isolation::kDevice, {all, all, all, all}},
  };
  for (const auto& [isolation, isolates] : cases) {
    Usage usage(isolates);
    constexpr int kJobs = 3, kStages = 60;
    std::vector<std::thread> threads;
    for (int i = 0; i < kJobs; ++i) {
      threads.emplace_back([&, i] {
        MockJob job(usage, kStages, /*threads=*/1 + i % 2);
        RunAll(job, Open(), isolation);
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(usage.conflicts(), 0) << static_cast<int>(isolation);
    EXPECT_GE(usage.timed(), kJobs * kStages / 2);
  }
}

TEST_F(LocalDriverTest, AGrantNamesWhatTheStageAskedFor) {
  Usage usage({{}, {}, {}, {}});
  const DeviceLeases leases = Open();
  MockJob job(usage, 4, /*threads=*/2), greedy(usage, 2, /*threads=*/100);
  RunAll(job, leases, Isolation::kDevice);
  const std::vector<int> all = {0, 1, 2, 3}, last = {2, 3};
  EXPECT_EQ(job.grants()[1], all);
  EXPECT_EQ(job.grants()[0].size(), 2);
  RunAll(greedy, leases, Isolation::kDevice);
  EXPECT_EQ(greedy.grants()[0], all);
}

TEST_F(LocalDriverTest, AJobThatIsCancelledDoesNotWait) {
  Usage usage({{}, {}, {}, {}});
  const DeviceLeases leases = Open();
  const auto held = leases.AcquireExclusive(1);
  ASSERT_TRUE(held.ok()) << held.status();
  MockJob job(usage, 2, 1);
  std::thread other([&] { RunAll(job, leases, Isolation::kDevice); });
  job.Cancel();
  other.join();
  EXPECT_FALSE(job.Next().has_value());
}

}  // namespace
}  // namespace attune
