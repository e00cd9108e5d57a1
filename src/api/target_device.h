// The device that networks are compiled for and run on: this machine, or a device elsewhere, by the service
// that measures on it. A null service means this machine.
#ifndef ATTUNE_API_TARGET_DEVICE_H_
#define ATTUNE_API_TARGET_DEVICE_H_

#include <string>

#include "absl/status/statusor.h"
#include "measure/service.h"
#include "target/target.h"

namespace attune {

// Fails for this machine as HostTarget() does.
absl::StatusOr<Target> TargetOfDevice(const MeasuringService* service);
// Identifies the device in records.
std::string FingerprintOfDevice(const MeasuringService* service);
// The number of processors that kernels may run on.
absl::StatusOr<int> ProcessorsOfDevice(const MeasuringService* service);

}  // namespace attune

#endif  // ATTUNE_API_TARGET_DEVICE_H_
