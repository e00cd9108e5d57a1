// Keys of devices that people take from other programs: "cpu", "cuda:0".
#ifndef ATTUNE_DEVICE_DEVICE_KEY_H_
#define ATTUNE_DEVICE_DEVICE_KEY_H_

#include <string_view>

#include "absl/status/status.h"

namespace attune {

// Whether the key means this machine, and so no device of a fleet: "cpu".
bool IsThisMachine(std::string_view key);

// Fails if the key names hardware that Attune does not compile for, such as "cuda:0" or "mps"; the message
// says how to continue.
absl::Status CheckDeviceKey(std::string_view key);

}  // namespace attune

#endif  // ATTUNE_DEVICE_DEVICE_KEY_H_
