#include "api/target_device.h"

#include <algorithm>

#include "base/processors.h"
#include "base/status.h"
#include "device/device.h"
#include "device/host.h"

namespace attune {

absl::StatusOr<Target> TargetOfDevice(const MeasuringService* service) {
  return service == nullptr ? HostTarget() : service->device().target;
}

std::string FingerprintOfDevice(const MeasuringService* service) {
  return service == nullptr ? DeviceFingerprint() : service->device().fingerprint;
}

absl::StatusOr<int> ProcessorsOfDevice(const MeasuringService* service) {
  if (service != nullptr) return static_cast<int>(service->device().usable.size());
  ASSIGN_OR_RETURN(const DeviceInfo here, HostDevice());
  return std::min(static_cast<int>(here.usable.size()), Processors());
}

}  // namespace attune
