// This machine as a scheduler's host: which processors build, and which measure.
#ifndef ATTUNE_WORK_DRIVER_LOCAL_HOST_H_
#define ATTUNE_WORK_DRIVER_LOCAL_HOST_H_

#include <vector>

#include "absl/status/statusor.h"
#include "base/job.h"
#include "device/device.h"
#include "device/placement.h"
#include "work/driver/runner_messages.h"
#include "work/sched/resources.h"

namespace attune {

struct LocalHostOptions {
  int building = 0;   // processors that compute; 0: all that do not measure, or all if there are none
  int measuring = 1;  // processors that the device has
  // The processors that stay quiet while something is measured.
  Isolation isolation = Isolation::kCore;
};

struct LocalHost {
  DeviceInfo device;
  Isolation isolation = Isolation::kCore;
  // Processors are numbered in it from 0: those that compute first, then the device's.
  HostResources resources;
  std::vector<int> numbers;  // of the machine, for each processor of `resources`
  // The processors of the machine that compute, and those that measure.
  std::vector<int> building, measuring;
};

// Fails if the machine has too few processors, or if what is measured would be disturbed although isolation
// forbids that: processors that compute share a core with those that measure. This is also tried out, since a
// virtual machine may hide it; takes some hundredths of a second for each of the device's processors.
absl::StatusOr<LocalHost> DescribeLocalHost(const LocalHostOptions& options);

// The same for a given device, without trying it out.
absl::StatusOr<LocalHost> DescribeHost(const DeviceInfo& device, const LocalHostOptions& options);

// Moves this process, and runners that it starts, to the processors that compute.
void StayOffDevice(const LocalHost& host);

// Returns the command to run the stage on the runner's host. If the strategy is not coordinated
// (SchedulingStrategy), it gives all processors of the host and no lease. `has_remote_device`: the job
// measures on a device elsewhere.
RunStage StageCommand(const LocalHost& host, const JobStage& stage, const Holding& holding,
                      bool has_remote_device, bool is_coordinated);

}  // namespace attune

#endif  // ATTUNE_WORK_DRIVER_LOCAL_HOST_H_
