// The devices on which a job with a key would measure.
#ifndef ATTUNE_SERVICE_AGREEMENT_DEVICE_OF_KEY_H_
#define ATTUNE_SERVICE_AGREEMENT_DEVICE_OF_KEY_H_

#include <string>

#include "absl/status/statusor.h"
#include "device/device.h"
#include "fleet/serving/device_directory.h"

namespace attune {

struct DeviceOfKey {
  DeviceInfo info = {};     // of one of them
  int count = 0;            // devices that are there
  bool is_one_kind = true;  // all of them have the same fingerprint
};

// Returns the devices that the key means for the tenant now. NotFound if none is there, and as
// DeviceDirectory::CheckKey().
absl::StatusOr<DeviceOfKey> FindDeviceOfKey(const DeviceDirectory& devices, const std::string& tenant,
                                            const std::string& key);

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_DEVICE_OF_KEY_H_
