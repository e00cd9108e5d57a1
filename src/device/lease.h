// Who uses which processors of a device: nothing computes where something is timed, in whatever process.
//
// Problem. A time counts for something only where nothing else runs beside what is timed, and several
// programs on a machine, each with threads that build while others measure, do not know of each other.
//
// Idea. Whoever times has an exclusive lease, which names the processors to time on and others that it keeps
// free; whoever computes (builds, searches, checks) has a shared one of processors that no exclusive lease
// names. Each processor is a byte of a file that all processes of the machine lock parts of (lease_file.h),
// so a lease ends with its process, however that ends. There are two more kinds of bytes:
//   - wanted, one for each processor: who waits for an exclusive lease marks those that it would get, and
//     shared leases do not begin on these. So a builder that is never idle cannot keep a measurement waiting.
//   - turn, one: of those who wait for an exclusive lease, only its holder tries, so that many small leases
//     cannot keep a large one waiting. The price is that a small one, too, waits for the large one before it.
// Those who wait for a shared lease are not protected from exclusive ones that never pause.
//
// Cost. Some system calls for a lease, a few microseconds. A waiter looks again when this process releases a
// lease, and otherwise after pauses that grow to 10 ms.
//
// All are on their honour: nothing keeps a thread from running where it has no lease. PinnedTo (pin.h) keeps
// it where it has one.
#ifndef ATTUNE_DEVICE_LEASE_H_
#define ATTUNE_DEVICE_LEASE_H_

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "device/device.h"
#include "device/lease_file.h"
#include "device/placement.h"

namespace attune {

// Holds processors from when it is given until it is released or destroyed or the process has ended. Movable;
// one that was moved from holds nothing. Not thread safe, but may go to another thread. A child made by fork
// has a copy that it must not destroy or release: both hold the same.
class DeviceLease {
 public:
  DeviceLease(DeviceLease&& other) noexcept
      : file_(std::exchange(other.file_, std::nullopt)), placement_(std::exchange(other.placement_, {})) {}
  DeviceLease& operator=(DeviceLease&& other) noexcept;
  ~DeviceLease() { Release(); }

  // What may be used, and what else is kept free, in ascending order. A shared lease isolates nothing.
  const std::vector<int>& processors() const { return placement_.processors; }
  const std::vector<int>& isolated() const { return placement_.isolated; }

  // After this, it holds nothing.
  void Release();

 private:
  friend class DeviceLeases;
  DeviceLease(LeaseFile file, Placement placement)
      : file_(std::move(file)), placement_(std::move(placement)) {}

  std::optional<LeaseFile> file_;
  Placement placement_;
};

// How long someone waits for a lease.
struct LeaseWait {
  double seconds = std::numeric_limits<double>::infinity();  // 0: takes what is free at once
  std::function<bool()> is_cancelled = {};                   // asked by the waiting thread, again and again
};

// How waiting is done; for tests.
struct LeaseTime {
  const Clock* clock = &SystemClock();
  // Waits for so many seconds; empty: or until this process releases a lease.
  std::function<void(double seconds)> sleep = {};
};

// $ATTUNE_LEASES, or a folder in the system's temporary one that all users of the machine share. Processes
// that have different folders, as in containers of their own, do not know of each other.
std::string DefaultLeaseFolder();

// Gives leases of a device's processors. Thread safe; two objects for the same folder know of each other.
class DeviceLeases {
 public:
  // Fails where the folder cannot be made, where it or what is in it is a link or not what it should be, and
  // where the device contradicts itself.
  static absl::StatusOr<DeviceLeases> Open(DeviceInfo device, std::string folder = DefaultLeaseFolder(),
                                           LeaseTime time = {});

  // To time on exactly `count` processors, which it names (ChoosePlacement says which). Not recursive: who
  // has a lease of this device and asks for this one waits for itself. Errors: InvalidArgument where this
  // device has not so many that may be used, DeadlineExceeded, Cancelled, and FailedPrecondition where the
  // folder has become useless.
  absl::StatusOr<DeviceLease> AcquireExclusive(int count, Isolation isolation = Isolation::kDevice,
                                               const LeaseWait& wait = {}) const;

  // To compute on one to `at_most` processors, as many as can be had at once; those on which nobody computes
  // come first. Errors as above.
  absl::StatusOr<DeviceLease> AcquireShared(int at_most, const LeaseWait& wait = {}) const;

  const DeviceInfo& device() const { return device_; }

 private:
  class ExclusiveAttempt;

  DeviceLeases(DeviceInfo device, std::string folder, LeaseTime time)
      : device_(std::move(device)), folder_(std::move(folder)), time_(std::move(time)) {}

  absl::Status CheckCount(int count) const;
  absl::StatusOr<std::optional<Placement>> TryShared(LeaseFile& file, int at_most) const;
  // Asks `attempt` until it gives a placement or waiting ends.
  using Attempt = absl::FunctionRef<absl::StatusOr<std::optional<Placement>>(LeaseFile&)>;
  absl::StatusOr<DeviceLease> Await(std::string_view what, const LeaseWait& wait, Attempt attempt) const;

  DeviceInfo device_;
  std::string folder_;
  LeaseTime time_;
};

}  // namespace attune

#endif  // ATTUNE_DEVICE_LEASE_H_
