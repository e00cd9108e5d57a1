// The public class Device.
#include "api/target_device.h"
#include "fleet/client/joined_fleet.h"
#include "library/convert.h"

namespace attune::compiler {

Device Device::here() { return Device(nullptr); }

Device Device::in_fleet(const std::string& key, const std::string& server) {
  NameFace();
  return Device(Value(MeasuringOn(key, server)));
}

std::string Device::fingerprint() const { return FingerprintOfDevice(service_.get()); }

std::string Device::cpu() const { return Value(TargetOfDevice(service_.get())).name; }

int Device::processors() const { return Value(ProcessorsOfDevice(service_.get())); }

}  // namespace attune::compiler
