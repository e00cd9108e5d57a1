// Holds owners of jobs to the time for which they may use devices.
#ifndef ATTUNE_SERVICE_QUEUE_DEVICE_QUOTAS_H_
#define ATTUNE_SERVICE_QUEUE_DEVICE_QUOTAS_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/job.h"
#include "work/driver/schedule_driver.h"

namespace attune {

// Returns a sentence that says why the owner may not use devices any more; nothing: it may. `running`: the
// seconds for which the owner's unfinished stages have had devices, which are not counted yet.
using DeviceQuota =
    std::function<absl::StatusOr<std::optional<std::string>>(const std::string& owner, double running)>;

// Whether the stage has a device. Devices alone are had by one stage at a time.
bool UsesDevice(const JobStage& stage);

// Ends the jobs that have begun of owners who may use devices no longer, as failed. Jobs of an owner whose
// quota is not known now continue. Fails if the store of the jobs does.
absl::Status HoldToQuotas(const DeviceQuota& quota, ScheduleDriver& driver);

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_DEVICE_QUOTAS_H_
