#include "tune/job/local_driver.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/status.h"

namespace attune {
namespace {

absl::StatusOr<DeviceLease> Acquire(const JobStage& stage, const DeviceLeases& leases, Isolation isolation,
                                    const std::function<bool()>& is_cancelled) {
  const int64_t usable = std::ssize(leases.device().usable);
  const LeaseWait wait = {.is_cancelled = is_cancelled};
  for (const ResourceNeed& need : stage.needs) {
    if (need.exclusive)
      return leases.AcquireExclusive(static_cast<int>(std::min(need.amount, usable)), isolation, wait);
  }
  return leases.AcquireShared(static_cast<int>(usable), wait);
}

}  // namespace

absl::Status RunNextStage(Job& job, const DeviceLeases& leases, Isolation isolation,
                          const std::function<bool()>& is_cancelled) {
  const std::optional<JobStage> stage = job.Next();
  if (!stage.has_value()) return absl::OkStatus();
  if (is_cancelled()) return job.Run({});
  const absl::StatusOr<DeviceLease> lease = Acquire(*stage, leases, isolation, is_cancelled);
  if (absl::IsCancelled(lease.status())) return job.Run({});
  RETURN_IF_ERROR(lease.status());
  return job.Run({lease->processors()});
}

}  // namespace attune
