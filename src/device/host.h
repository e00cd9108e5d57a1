// The processor that this program runs on.
#ifndef ATTUNE_DEVICE_HOST_H_
#define ATTUNE_DEVICE_HOST_H_

#include <string>

#include "absl/status/statusor.h"
#include "target/target.h"

namespace attune {

// The processor that this program runs on: the named target that fits best, with the caches and cores that
// the system reports. The environment variable ATTUNE_HOST_CPU selects another target by name (features.h).
// Fails if the processor lacks AVX2, FMA or F16C, or lacks some of the instructions of the selected target.
absl::StatusOr<Target> HostTarget();

// Identifies the kind of device that a measurement was made on: processor model, target and caches, in
// lower case without spaces ("amd-epyc-9b14/znver4/l1-32k/l2-1024k/l3-32768k").
std::string DeviceFingerprint();

}  // namespace attune

#endif  // ATTUNE_DEVICE_HOST_H_
