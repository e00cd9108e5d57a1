#include "service/queue/device_quotas.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>

#include "base/log.h"
#include "base/status.h"

namespace attune {
namespace {

// The current use of an owner.
struct DeviceUse {
  double seconds = 0;     // of stages that run
  std::set<size_t> jobs;  // that have begun
};

std::map<std::string, DeviceUse> UseByOwner(const ScheduleDriver& driver) {
  std::map<std::string, DeviceUse> uses;
  for (const auto& [number, job] : driver.jobs()) {
    const bool has_begun = job.runs() || job.runner() != 0;
    if (!has_begun) continue;
    const JobRecord& record = job.record();
    DeviceUse& use = uses[record.spec.owner];
    if (job.runs() && UsesDevice(job.stage())) use.seconds += driver.Now() - job.start();
    // Parts end with the whole job that they belong to.
    if (!job.is_over()) use.jobs.insert(record.whole != 0 ? record.whole : number);
  }
  return uses;
}

}  // namespace

bool UsesDevice(const JobStage& stage) { return std::ranges::any_of(stage.needs, &ResourceNeed::exclusive); }

absl::Status HoldToQuotas(const DeviceQuota& quota, ScheduleDriver& driver) {
  for (const auto& [owner, use] : UseByOwner(driver)) {
    const absl::StatusOr<std::optional<std::string>> why = quota(owner, use.seconds);
    if (!why.ok())
      Log(LogLevel::kWarning, "a quota cannot be held now", "owner", owner, "reason", why.status().message());
    if (!why.ok() || !why->has_value() || use.jobs.empty()) continue;
    Log(LogLevel::kInfo, "jobs end by a quota", "owner", owner, "jobs", use.jobs.size(), "reason", **why);
    for (const size_t number : use.jobs) RETURN_IF_ERROR(driver.Fail(number, **why));
  }
  return absl::OkStatus();
}

}  // namespace attune
