// A machine that kernels run on, as plain data: it can be another one than this, and can be sent.
#ifndef ATTUNE_DEVICE_DEVICE_H_
#define ATTUNE_DEVICE_DEVICE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "device/topology.h"
#include "target/target.h"

namespace attune {

struct DeviceInfo {
  std::string fingerprint;  // of this kind of device, as DeviceFingerprint() gives it
  Target target;            // what to compile for
  std::vector<int> usable;  // the processors that kernels may run on, ascending
  std::vector<Processor>
      processors;  // all of the machine that are online, ascending; the usable are among them

  bool operator==(const DeviceInfo&) const = default;
};

// This machine. What the calling thread may run on is usable. Fails as HostTarget() does, and where the
// system does not say what this thread may run on.
absl::StatusOr<DeviceInfo> HostDevice();

}  // namespace attune

#endif  // ATTUNE_DEVICE_DEVICE_H_
