// Runs a job's stages on this machine, beside those of other jobs and other processes.
#ifndef ATTUNE_TUNE_JOB_LOCAL_DRIVER_H_
#define ATTUNE_TUNE_JOB_LOCAL_DRIVER_H_

#include <functional>

#include "absl/status/status.h"
#include "device/lease.h"
#include "job/job.h"

namespace attune {

// Runs the stage that comes next, once there is a lease of what it needs: an exclusive one, which isolates
// as it is told, where it needs anything for itself, else a shared one. More processors than the device has
// are as many as it has. Nothing where the job is done. `is_cancelled` ends waiting; what a cancelled job has
// left runs without a lease, since it is quick and nobody wants to wait.
absl::Status RunNextStage(Job& job, const DeviceLeases& leases, Isolation isolation,
                          const std::function<bool()>& is_cancelled);

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_LOCAL_DRIVER_H_
