// Runs a job's stages on this machine, beside other jobs and other processes.
#ifndef ATTUNE_TUNE_JOB_LOCAL_DRIVER_H_
#define ATTUNE_TUNE_JOB_LOCAL_DRIVER_H_

#include <functional>

#include "absl/status/status.h"
#include "base/job.h"
#include "device/lease.h"

namespace attune {

// Runs the next stage, once there is a lease for its needs: an exclusive one with this isolation if it needs
// anything exclusively, with as many processors as it asks for and the device has; otherwise a shared one of
// all processors. Does nothing if the job is done. `is_cancelled` ends the wait; the remaining stages of a
// cancelled job run without a lease, since they are quick and the user does not want to wait.
absl::Status RunNextStage(Job& job, const DeviceLeases& leases, Isolation isolation,
                          const std::function<bool()>& is_cancelled);

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_LOCAL_DRIVER_H_
