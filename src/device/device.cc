#include "device/device.h"

#include <algorithm>

#include "absl/status/status.h"
#include "base/status.h"
#include "device/host.h"

namespace attune {

absl::StatusOr<DeviceInfo> HostDevice() {
  DeviceInfo device;
  ASSIGN_OR_RETURN(device.target, HostTarget());
  device.fingerprint = DeviceFingerprint();
  device.usable = AllowedProcessors();
  if (device.usable.empty())
    return absl::FailedPreconditionError("the system does not say which processors this program may use");
  device.processors = ReadTopology("/sys/devices/system/cpu");
  // Processors without topology files are assumed to share the cache.
  for (const int number : device.usable) {
    if (!std::ranges::binary_search(device.processors, number, {}, &Processor::number)) {
      const Processor unknown = {.number = number, .core = number, .cache = device.usable.front()};
      device.processors.insert(std::ranges::lower_bound(device.processors, number, {}, &Processor::number),
                               unknown);
    }
  }
  return device;
}

}  // namespace attune
