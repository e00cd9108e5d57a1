// Holds owners of jobs to the time for which they may use devices.
#ifndef ATTUNE_SERVICE_QUEUE_DEVICE_QUOTAS_H_
#define ATTUNE_SERVICE_QUEUE_DEVICE_QUOTAS_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "work/driver/schedule_driver.h"
#include "work/store/stage_log.h"

namespace attune {

// Returns a sentence that says why the owner may not use devices any more; nothing: it may. `running`: the
// seconds for which the owner's unfinished stages have had devices, which are not counted yet.
using DeviceQuota =
    std::function<absl::StatusOr<std::optional<std::string>>(const std::string& owner, double running)>;

// Is told of the seconds for which a stage of the owner's has had a device.
using DeviceUsed = std::function<void(const std::string& owner, double seconds)>;

// For the thread that schedules. The clock must outlive it.
class DeviceQuotas {
 public:
  // `quota` null: there are none. `used` may be null.
  DeviceQuotas(DeviceQuota quota, DeviceUsed used, const Clock& clock = SystemClock())
      : quota_(std::move(quota)), used_(std::move(used)), since_look_(clock) {}

  // Counts a stage that has ended, if it had a device. Devices alone are had by one stage at a time.
  void Count(const std::string& owner, const StageRecord& stage) const;
  // Ends the jobs that have begun of owners who may use devices no longer, as failed; looks every few
  // seconds. Jobs of an owner whose quota is not known now continue. Fails if the store of the jobs does.
  absl::Status Enforce(ScheduleDriver& driver);

 private:
  const DeviceQuota quota_;
  const DeviceUsed used_;
  Stopwatch since_look_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_DEVICE_QUOTAS_H_
