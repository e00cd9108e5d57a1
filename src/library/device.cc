// The public class Device.
#include "device/device.h"

#include "device/host.h"
#include "fleet/client/joined_fleet.h"
#include "library/convert.h"
#include "library/network_state.h"

namespace attune::compiler {

Device Device::here() { return Device(nullptr); }

Device Device::in_fleet(const std::string& key, const std::string& server) {
  return Device(Value(MeasuringOn(key, server)));
}

std::string Device::fingerprint() const {
  return service_ == nullptr ? DeviceFingerprint() : service_->device().fingerprint;
}

std::string Device::cpu() const { return TargetOf(service_.get()).name; }

int Device::processors() const {
  const DeviceInfo info = service_ == nullptr ? Value(HostDevice()) : service_->device();
  return static_cast<int>(info.usable.size());
}

}  // namespace attune::compiler
