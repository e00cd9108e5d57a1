#include "tune/job/local_driver.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/status.h"

namespace attune {
namespace {

absl::StatusOr<DeviceLease> Acquire(const ResourceNeed* exclusive, const DeviceLeases& leases,
                                    std::optional<Isolation> isolation,
                                    const std::function<bool()>& is_cancelled) {
  const int64_t usable = std::ssize(leases.device().usable);
  const LeaseWait wait = {.is_cancelled = is_cancelled};
  if (exclusive == nullptr) return leases.AcquireShared(static_cast<int>(usable), wait);
  return leases.AcquireExclusive(static_cast<int>(std::min(exclusive->amount, usable)), *isolation, wait);
}

}  // namespace

absl::Status RunNextStage(Job& job, const DeviceLeases& leases, std::optional<Isolation> isolation,
                          const std::function<bool()>& is_cancelled) {
  const std::optional<JobStage> stage = job.Next();
  if (!stage.has_value()) return absl::OkStatus();
  const auto exclusive = std::ranges::find(stage->needs, true, &ResourceNeed::exclusive);
  const ResourceNeed* need = exclusive == stage->needs.end() ? nullptr : &*exclusive;
  if (is_cancelled() || (need != nullptr && !isolation.has_value())) return job.Run({});
  const absl::StatusOr<DeviceLease> lease = Acquire(need, leases, isolation, is_cancelled);
  if (absl::IsCancelled(lease.status())) return job.Run({});
  RETURN_IF_ERROR(lease.status());
  return job.Run({lease->processors()});
}

}  // namespace attune
