// A machine that kernels run on, as plain data: it may be a machine other than this one, and can be sent.
#ifndef ATTUNE_DEVICE_DEVICE_H_
#define ATTUNE_DEVICE_DEVICE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "device/topology.h"
#include "target/target.h"

namespace attune {

struct DeviceInfo {
  std::string fingerprint;  // of this kind of device, as DeviceFingerprint() returns it
  Target target;            // what to compile for
  std::vector<int> usable;  // the processors that kernels may run on, ascending
  std::vector<Processor>
      processors;  // all online processors of the machine, ascending; includes the usable ones

  bool operator==(const DeviceInfo&) const = default;
};

// This machine. The usable processors are those that the calling thread may run on. Fails if HostTarget()
// fails, or if the system does not say where this thread may run.
absl::StatusOr<DeviceInfo> HostDevice();

}  // namespace attune

#endif  // ATTUNE_DEVICE_DEVICE_H_
