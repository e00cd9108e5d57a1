// Encodes devices as messages (device.proto). Decoding is safe for any bytes: what it returns does not
// contradict itself.
#ifndef ATTUNE_DEVICE_CODEC_H_
#define ATTUNE_DEVICE_CODEC_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "device/device.h"

namespace attune {

std::string EncodeDevice(const DeviceInfo& device);
// Fails if this program does not know the device's target.
absl::StatusOr<DeviceInfo> DecodeDevice(std::string_view message);

}  // namespace attune

#endif  // ATTUNE_DEVICE_CODEC_H_
