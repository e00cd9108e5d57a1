#include "process/server/tenant_use.h"

#include <cstddef>

#include "base/log.h"
#include "base/status.h"

namespace attune {

absl::StatusOr<int64_t> TenantUse::BytesOfJobs(const std::string& tenant) {
  constexpr size_t kMostKnown = 10'000;
  const double now = clock_.Now();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = known_.find(tenant);
    if (known != known_.end() && now < known->second.at + seconds_) return known->second.bytes;
  }
  ASSIGN_OR_RETURN(const int64_t bytes, jobs_.StoredBytes(tenant));
  const std::lock_guard<std::mutex> lock(mutex_);
  if (known_.size() >= kMostKnown) known_.clear();
  known_[tenant] = {.bytes = bytes, .at = now};
  return bytes;
}

absl::StatusOr<TenantState> TenantUse::StateOf(const std::string& tenant) {
  TenantState state;
  ASSIGN_OR_RETURN(state.jobs, jobs_.Unfinished(tenant));
  ASSIGN_OR_RETURN(state.stored_bytes, BytesOfJobs(tenant));
  ASSIGN_OR_RETURN(const auto uploads, store_.Uploads(tenant));
  for (const KnownUpload& upload : uploads) state.stored_bytes += upload.bytes;
  return state;
}

void CountDeviceSeconds(TenantStore& store, const std::string& tenant, double seconds, const Clock& clock) {
  const absl::Status added = store.AddDeviceSeconds(tenant, clock.WallMillis() / kDayMs, seconds);
  if (!added.ok())
    Log(LogLevel::kWarning, "the use of a device is not counted", "tenant", tenant, "seconds", seconds,
        "reason", added.message());
}

absl::StatusOr<std::optional<std::string>> DeviceRefusalOf(TenantStore& store, const std::string& tenant,
                                                           double running, const Clock& clock) {
  ASSIGN_OR_RETURN(const auto found, store.Find(tenant));
  const TenantRecord record = found.value_or(TenantRecord{.name = tenant});
  ASSIGN_OR_RETURN(const double used,
                   store.DeviceSeconds(tenant, record.quota.FirstDay(clock.WallMillis() / kDayMs)));
  return RefusalOfDevices(record, used + running);
}

absl::StatusOr<StorageShare> StorageShareOf(TenantStore& tenants, ServiceStore& uploads,
                                            const std::string& tenant) {
  ASSIGN_OR_RETURN(const auto found, tenants.Find(tenant));
  const TenantQuota quota = found ? found->quota : TenantQuota();
  StorageShare share = {.quota_bytes = quota.stored_bytes};
  ASSIGN_OR_RETURN(const auto known, uploads.Uploads(tenant));
  for (const KnownUpload& upload : known) share.other_bytes += upload.bytes;
  return share;
}

}  // namespace attune
