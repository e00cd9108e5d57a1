// The peak rates that a device can have, by its processor's kind.
#ifndef ATTUNE_SERVICE_AGREEMENT_DEVICE_RATES_H_
#define ATTUNE_SERVICE_AGREEMENT_DEVICE_RATES_H_

#include <string>

#include "absl/status/statusor.h"
#include "device/device.h"
#include "device/peaks.h"
#include "fleet/serving/device_directory.h"
#include "target/target.h"

namespace attune {

// Returns the rates of the fastest processor of the kind that there can be: no device is believed to have
// higher ones.
Peaks HighestPeaks(const Target& target);

// Returns the rates that the processor's kind lets expect, until some were measured.
Peaks ExpectedPeaks(const Target& target);

// Returns the rates that a device may have whose best measured ones these are: on a busy machine, all
// measurements may have been disturbed.
Peaks WithMargin(Peaks measured);

// The devices on which a job with a key would measure.
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

#endif  // ATTUNE_SERVICE_AGREEMENT_DEVICE_RATES_H_
