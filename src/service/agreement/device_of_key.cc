#include "service/agreement/device_of_key.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "device/codec.h"

namespace attune {

absl::StatusOr<DeviceOfKey> FindDeviceOfKey(const DeviceDirectory& devices, const std::string& tenant,
                                            const std::string& key) {
  DeviceOfKey device;
  for (const fleet_proto::Device& one : devices.DevicesFor(tenant, key)) {
    const auto info = DecodeDevice(one.info());
    if (!one.is_there() || !info.ok()) continue;
    if (device.count++ == 0) device.info = *info;
    device.is_one_kind = device.is_one_kind && info->fingerprint == device.info.fingerprint;
  }
  if (const absl::Status served = devices.CheckKey(key, tenant); !key.empty() && !served.ok())
    return Annotate(served, "/on");
  if (key.empty() || device.count == 0)
    return absl::NotFoundError(
        absl::StrCat("/on: no device has the key \"", key, "\", so that nothing can be promised"));
  return device;
}

}  // namespace attune
