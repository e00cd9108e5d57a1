// The command by which a runner starts a stage on what it was granted.
#ifndef ATTUNE_WORK_DRIVER_STAGE_COMMAND_H_
#define ATTUNE_WORK_DRIVER_STAGE_COMMAND_H_

#include "base/job.h"
#include "work/driver/local_host.h"
#include "work/driver/runner_messages.h"
#include "work/sched/resources.h"

namespace attune {

// Returns the command to run the stage on the runner's host. If the strategy is not coordinated
// (SchedulingStrategy), it gives all processors of the host and no lease. `has_remote_device`: the job
// measures on a device elsewhere.
RunStage StageCommand(const LocalHost& host, const JobStage& stage, const Holding& holding,
                      bool has_remote_device, bool is_coordinated);

}  // namespace attune

#endif  // ATTUNE_WORK_DRIVER_STAGE_COMMAND_H_
