// Who may use which processors of a device, so that no process computes where another one measures times.
//
// Problem. A measured time is only meaningful if nothing else runs beside the measured program, but the
// programs on a machine, each with threads that build while others measure, do not know of each other.
//
// Idea. A thread that measures holds an exclusive lease, which names the processors to time on and others
// that it keeps free; a thread that computes (builds, searches, checks) holds a shared lease of processors
// that no exclusive lease names. Each processor is one byte of a file that all processes of the machine
// lock parts of (lease_file.h), so a lease ends with its process, however that ends. There are two more
// kinds of bytes:
//   - wanted, one for each processor: a thread that waits for an exclusive lease marks the processors that
//     it would take, and no new shared lease includes them. So a builder that is never idle cannot keep a
//     measurement waiting.
//   - turn, one: of the threads that wait for an exclusive lease, only the holder of the turn tries, so
//     that many small leases cannot keep a large one waiting. The price is that a small lease, too, waits
//     for a large one before it.
// A thread that waits for a shared lease is not protected from exclusive leases that never pause.
//
// Cost. A lease takes some system calls, a few microseconds. A waiter looks again when this process
// releases a lease, and otherwise after pauses that grow to 10 ms.
//
// Leases are advisory: nothing keeps a thread from running where it has no lease. PinnedTo (pin.h) keeps a
// thread on its leased processors.
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

// Holds processors until it is released or destroyed or the process has ended. Movable; a lease that was
// moved from holds nothing. Not thread safe, but may be passed to another thread. A child made by fork has
// a copy, which it must not destroy or release: both copies hold the same lock.
class DeviceLease {
 public:
  DeviceLease(DeviceLease&& other) noexcept
      : file_(std::exchange(other.file_, std::nullopt)), placement_(std::exchange(other.placement_, {})) {}
  DeviceLease& operator=(DeviceLease&& other) noexcept;
  ~DeviceLease() { Release(); }

  // The processors that may be used, and the others that stay free, in ascending order. A shared lease
  // isolates none.
  const std::vector<int>& processors() const { return placement_.processors; }
  const std::vector<int>& isolated() const { return placement_.isolated; }

  // Afterwards the lease holds nothing.
  void Release();

 private:
  friend class DeviceLeases;
  DeviceLease(LeaseFile file, Placement placement)
      : file_(std::move(file)), placement_(std::move(placement)) {}

  std::optional<LeaseFile> file_;
  Placement placement_;
};

// How long to wait for a lease.
struct LeaseWait {
  double seconds = std::numeric_limits<double>::infinity();  // 0: does not wait
  std::function<bool()> is_cancelled = {};                   // polled by the waiting thread
};

// The clock and the sleep of a wait; for tests.
struct LeaseTime {
  const Clock* clock = &SystemClock();
  // Waits for this many seconds. If empty: waits until then or until this process releases a lease.
  std::function<void(double seconds)> sleep = {};
};

// $ATTUNE_LEASES, or else a folder in the system's temporary folder that all users of the machine share.
// Processes with different folders, for example in different containers, do not see each other's leases.
std::string DefaultLeaseFolder();

// Grants leases of a device's processors. Thread safe; two objects for the same folder see each other's
// leases.
class DeviceLeases {
 public:
  // Fails if the folder cannot be made, if the folder or its content is a link or not what it should be, or
  // if the device contradicts itself.
  static absl::StatusOr<DeviceLeases> Open(DeviceInfo device, std::string folder = DefaultLeaseFolder(),
                                           LeaseTime time = {});

  // A lease to time on exactly `count` processors, which the lease names (chosen by ChoosePlacement). Not
  // recursive: a thread that holds a lease of this device and asks for this one waits for itself. Errors:
  // InvalidArgument if the device has fewer usable processors, DeadlineExceeded, Cancelled, and
  // FailedPrecondition if the folder has become unusable.
  absl::StatusOr<DeviceLease> AcquireExclusive(int count, Isolation isolation = Isolation::kDevice,
                                               const LeaseWait& wait = {}) const;

  // A lease to compute on one to `at_most` processors, as many as are available at once, preferably idle
  // ones. Errors as above.
  absl::StatusOr<DeviceLease> AcquireShared(int at_most, const LeaseWait& wait = {}) const;

  const DeviceInfo& device() const { return device_; }

 private:
  class ExclusiveAttempt;

  DeviceLeases(DeviceInfo device, std::string folder, LeaseTime time)
      : device_(std::move(device)), folder_(std::move(folder)), time_(std::move(time)) {}

  absl::Status CheckCount(int count) const;
  absl::StatusOr<std::optional<Placement>> TryShared(LeaseFile& file, int at_most) const;
  // Calls `attempt` until it returns a placement or the wait ends.
  using Attempt = absl::FunctionRef<absl::StatusOr<std::optional<Placement>>(LeaseFile&)>;
  absl::StatusOr<DeviceLease> Await(std::string_view what, const LeaseWait& wait, Attempt attempt) const;

  DeviceInfo device_;
  std::string folder_;
  LeaseTime time_;
};

}  // namespace attune

#endif  // ATTUNE_DEVICE_LEASE_H_
