// Keeps an agent's own threads off the processors that its device host times on.
#ifndef ATTUNE_FLEET_HOST_STAYS_OFF_LEASE_H_
#define ATTUNE_FLEET_HOST_STAYS_OFF_LEASE_H_

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "device/device.h"
#include "device/pin_tree.h"
#include "fleet/host/device_host.h"

namespace attune {

// The usable processors for threads that should not disturb what is timed on `timed`: those of other cores;
// if there are none, those that are not timed on; if there are none, all. A lease isolates all the others as
// well, but an agent has to run somewhere, and does little. Ascending.
std::vector<int> ProcessorsBeside(const DeviceInfo& device, const std::vector<int>& timed);

// Moves the threads of this process as the host's events say, and not the host nor its workers. Not thread
// safe.
class StaysOffLease {
 public:
  using Pin = std::function<void(std::span<const int>)>;

  // `device`: this machine, where this process may use all usable processors. `pin`: another function for
  // tests.
  explicit StaysOffLease(
      DeviceInfo device, Pin pin = [](std::span<const int> processors) { PinOwnThreads(processors); })
      : device_(std::move(device)), pin_(std::move(pin)) {}

  // An exclusive lease moves the threads away, and its end moves them back. Other events do nothing.
  void Observe(const HostEvent& event);

 private:
  const DeviceInfo device_;
  const Pin pin_;
  bool is_away_ = false;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_HOST_STAYS_OFF_LEASE_H_
