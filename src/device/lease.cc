#include "device/lease.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <mutex>
#include <span>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/processor_set.h"
#include "base/status.h"

namespace attune {
namespace {

using Lock = LeaseFile::Lock;
using Range = LeaseFile::Range;

// The byte ranges of the file.
constexpr Range kProcessors = {0, kMaxProcessors};
constexpr Range kWanted = {kMaxProcessors, kMaxProcessors};
constexpr Range kTurn = {2 * int64_t{kMaxProcessors}, 1};

// Seconds between two attempts.
constexpr double kFirstPause = 0.2e-3, kLongestPause = 10e-3;
// A wait longer than this is logged.
constexpr double kSilentSeconds = 1;

// Counts the leases that this process has released, and wakes threads that wait for one.
class Releases {
 public:
  // Never destroyed, so that leases can be released while the process ends.
  static Releases& OfThisProcess() {
    static auto& releases = *new Releases;
    return releases;
  }

  uint64_t count() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return count_;
  }
  void Add() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++count_;
    }
    changed_.notify_all();
  }
  // Waits until the count is no longer `seen`, or for `seconds`.
  void Await(uint64_t seen, double seconds) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return count_ != seen; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t count_ = 0;
};

// The bytes of the processors, counted from `base`, as few ranges.
std::vector<Range> RangesOf(std::span<const int> ascending, int64_t base) {
  std::vector<Range> ranges;
  for (const int processor : ascending) {
    const int64_t byte = base + processor;
    if (!ranges.empty() && ranges.back().first + ranges.back().count == byte) {
      ++ranges.back().count;
    } else {
      ranges.push_back({byte, 1});
    }
  }
  return ranges;
}

// The processors that others have locked so that we cannot get `lock`, numbered from the start of `range`.
absl::StatusOr<ProcessorSet> Locked(const LeaseFile& file, Lock lock, Range range) {
  ASSIGN_OR_RETURN(const std::vector<Range> obstacles, file.Obstacles(lock, range));
  ProcessorSet locked;
  for (const Range& obstacle : obstacles) {
    for (int64_t i = 0; i < obstacle.count; ++i)
      locked.Add(static_cast<int>(obstacle.first - range.first + i));
  }
  return locked;
}

absl::StatusOr<bool> TryLockAll(LeaseFile& file, Lock lock, std::span<const Range> ranges) {
  for (const Range& range : ranges) {
    ASSIGN_OR_RETURN(const bool is_locked, file.TryLock(lock, range));
    if (!is_locked) return false;
  }
  return true;
}

absl::Status CheckDevice(const DeviceInfo& device) {
  const auto is_known = [&](int number) {
    return std::ranges::binary_search(device.processors, number, {}, &Processor::number);
  };
  const auto is_number = [](const Processor& processor) {
    return processor.number >= 0 && processor.number < kMaxProcessors;
  };
  const bool is_ordered =
      std::ranges::is_sorted(device.usable, std::ranges::less_equal()) &&
      std::ranges::is_sorted(device.processors, std::ranges::less_equal(), &Processor::number);
  if (is_ordered && std::ranges::all_of(device.processors, is_number) &&
      std::ranges::all_of(device.usable, is_known)) {
    return absl::OkStatus();
  }
  return InvalidInput("a device's processors are in no order, or it may use some that it does not have");
}

std::vector<int> All(const Placement& placement) {
  std::vector<int> all;
  std::ranges::merge(placement.processors, placement.isolated, std::back_inserter(all));
  return all;
}

}  // namespace

std::string DefaultLeaseFolder() {
  const char* chosen = std::getenv("ATTUNE_LEASES");
  // Not $TMPDIR, since each user may have a different one.
  return chosen == nullptr || *chosen == '\0' ? "/tmp/attune-leases" : chosen;
}

DeviceLease& DeviceLease::operator=(DeviceLease&& other) noexcept {
  if (this == &other) return *this;
  Release();
  file_ = std::exchange(other.file_, std::nullopt);
  placement_ = std::exchange(other.placement_, {});
  return *this;
}

void DeviceLease::Release() {
  if (!file_) return;
  file_.reset();
  placement_ = {};
  Releases::OfThisProcess().Add();
}

// A wait for an exclusive lease.
class DeviceLeases::ExclusiveAttempt {
 public:
  ExclusiveAttempt(const DeviceInfo& device, int count, Isolation isolation)
      : device_(device), count_(count), isolation_(isolation) {}

  absl::StatusOr<std::optional<Placement>> Try(LeaseFile& file) {
    ASSIGN_OR_RETURN(const bool has_turn, file.TryLock(Lock::kExclusive, kTurn));
    ASSIGN_OR_RETURN(const ProcessorSet taken, Locked(file, Lock::kShared, kProcessors));
    std::optional<Placement> placement = ChoosePlacement(device_, count_, isolation_, taken);
    RETURN_IF_ERROR(Want(file, has_turn, taken, placement));
    if (!has_turn || !placement) return std::nullopt;
    ASSIGN_OR_RETURN(const bool is_locked,
                     TryLockAll(file, Lock::kExclusive, RangesOf(All(*placement), kProcessors.first)));
    if (!is_locked) {
      file.Unlock(kProcessors);
      return std::nullopt;
    }
    wanted_.reset();
    file.Unlock(kWanted);
    file.Unlock(kTurn);
    return placement;
  }

 private:
  // Marks the processors that this wait will probably get. The holder of the turn takes whatever is free; the
  // others choose processors that no other thread wants, if there are any.
  absl::Status Want(LeaseFile& file, bool has_turn, const ProcessorSet& taken,
                    std::optional<Placement> target) {
    if (!has_turn) {
      ASSIGN_OR_RETURN(ProcessorSet avoided, Locked(file, Lock::kExclusive, kWanted));
      avoided.Add(taken);
      if (auto other = ChoosePlacement(device_, count_, isolation_, avoided)) target = std::move(other);
    }
    if (!target) target = ChoosePlacement(device_, count_, isolation_, {});
    if (target == wanted_) return absl::OkStatus();
    file.Unlock(kWanted);
    wanted_ = target;
    return TryLockAll(file, Lock::kShared, RangesOf(All(*target), kWanted.first)).status();
  }

  const DeviceInfo& device_;
  const int count_;
  const Isolation isolation_;
  std::optional<Placement> wanted_;
};

absl::StatusOr<DeviceLeases> DeviceLeases::Open(DeviceInfo device, std::string folder, LeaseTime time) {
  RETURN_IF_ERROR(CheckDevice(device));
  RETURN_IF_ERROR(LeaseFile::Open(folder).status());
  return DeviceLeases(std::move(device), std::move(folder), std::move(time));
}

absl::Status DeviceLeases::CheckCount(int count) const {
  if (count >= 1 && count <= std::ssize(device_.usable)) return absl::OkStatus();
  return InvalidInput(count, " processor(s) are wanted, and this device has ", device_.usable.size(),
                      " that may be used");
}

absl::StatusOr<std::optional<Placement>> DeviceLeases::TryShared(LeaseFile& file, int at_most) const {
  ASSIGN_OR_RETURN(const ProcessorSet wanted, Locked(file, Lock::kExclusive, kWanted));
  ASSIGN_OR_RETURN(const ProcessorSet timed, Locked(file, Lock::kShared, kProcessors));
  ASSIGN_OR_RETURN(const ProcessorSet busy, Locked(file, Lock::kExclusive, kProcessors));
  std::vector<int> candidates;
  std::ranges::copy_if(device_.usable, std::back_inserter(candidates),
                       [&](int processor) { return !wanted.Has(processor) && !timed.Has(processor); });
  std::ranges::sort(candidates, {}, [&](int processor) { return std::pair(busy.Has(processor), processor); });
  Placement placement;
  for (const int processor : candidates) {
    if (std::ssize(placement.processors) == at_most) break;
    ASSIGN_OR_RETURN(const bool is_locked, file.TryLock(Lock::kShared, {kProcessors.first + processor, 1}));
    if (is_locked) placement.processors.push_back(processor);
  }
  if (placement.processors.empty()) return std::nullopt;
  std::ranges::sort(placement.processors);
  return placement;
}

absl::StatusOr<DeviceLease> DeviceLeases::Await(std::string_view what, const LeaseWait& wait,
                                                Attempt attempt) const {
  ASSIGN_OR_RETURN(LeaseFile file, LeaseFile::Open(folder_));
  Releases& releases = Releases::OfThisProcess();
  const double start = time_.clock->Now(), end = start + wait.seconds;
  bool has_said_so = false;
  for (double pause = kFirstPause;; pause = std::min(2 * pause, kLongestPause)) {
    const uint64_t seen = releases.count();
    ASSIGN_OR_RETURN(std::optional<Placement> placement, attempt(file));
    if (placement && file.IsCurrent()) return DeviceLease(std::move(file), *std::move(placement));
    if (placement) {
      // Someone has removed the file, and other processes now lock a new one.
      ASSIGN_OR_RETURN(file, LeaseFile::Open(folder_));
      continue;
    }
    const double left = end - time_.clock->Now();
    if (wait.is_cancelled && wait.is_cancelled())
      return absl::CancelledError(absl::StrCat("waiting for ", what, " was cancelled"));
    if (left <= 0) {
      return absl::DeadlineExceededError(
          absl::StrCat("waited ", wait.seconds, " s for ", what, ", which others have leased in ", folder_));
    }
    if (!has_said_so && time_.clock->Now() - start >= kSilentSeconds) {
      has_said_so = true;
      Log(LogLevel::kInfo, "waiting for a lease", "of", what, "folder", folder_);
    }
    if (time_.sleep) {
      time_.sleep(std::min(pause, left));
    } else {
      releases.Await(seen, std::min(pause, left));
    }
  }
}

absl::StatusOr<DeviceLease> DeviceLeases::AcquireExclusive(int count, Isolation isolation,
                                                           const LeaseWait& wait) const {
  RETURN_IF_ERROR(CheckCount(count));
  ExclusiveAttempt attempt(device_, count, isolation);
  absl::StatusOr<DeviceLease> lease = Await(absl::StrCat(count, " processor(s) to time on"), wait,
                                            [&](LeaseFile& file) { return attempt.Try(file); });
  // The turn and the wanted marks are free again, whether or not there is a lease.
  Releases::OfThisProcess().Add();
  return lease;
}

absl::StatusOr<DeviceLease> DeviceLeases::AcquireShared(int at_most, const LeaseWait& wait) const {
  RETURN_IF_ERROR(CheckCount(std::min<int>(at_most, static_cast<int>(device_.usable.size()))));
  return Await("a processor to compute on", wait, [&](LeaseFile& file) { return TryShared(file, at_most); });
}

}  // namespace attune
