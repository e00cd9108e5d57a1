// The device host's process: measures for an agent on this machine (device_host.h). It leases processors as
// other programs do, so that the agent and other programs that measure on the machine wait for each other.
#ifndef ATTUNE_FLEET_HOST_DEVICE_HOST_WORKER_H_
#define ATTUNE_FLEET_HOST_DEVICE_HOST_WORKER_H_

#include "base/process/worker.h"

namespace attune {

inline constexpr char kDeviceHostKind[] = "device-host";

// The worker's main loop; RunIfWorker() of base/process/worker.h calls it.
int RunDeviceHost();

// For main() to pass to RunIfWorker(). The measuring workers that the host starts are confined; the host
// itself must see the machine's leases.
inline WorkerKind DeviceHostWorker() {
  return {.name = kDeviceHostKind, .run = RunDeviceHost, .is_confined = false};
}

}  // namespace attune

#endif  // ATTUNE_FLEET_HOST_DEVICE_HOST_WORKER_H_
