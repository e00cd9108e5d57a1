#include "service/tenants/tenants.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "http/problem.h"
#include "service/access/access.h"
#include "service/access/problems.h"

namespace attune {
namespace {

constexpr double kKnownSeconds = 1;  // for which what the store says is taken from memory
constexpr size_t kMostKnown = 10'000;
constexpr double kJobsRetrySeconds = 30;  // in which some of many jobs may end

}  // namespace

int64_t Tenants::Today() const { return clock_.WallMillis() / kDayMs; }

absl::StatusOr<TenantRecord> Tenants::Find(const std::string& name) {
  const double now = clock_.Now();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto known = known_.find(name);
    if (known != known_.end() && now < known->second.at + kKnownSeconds) return known->second.tenant;
  }
  ASSIGN_OR_RETURN(const auto found, store_.Find(name));
  TenantRecord tenant = found.value_or(TenantRecord{.name = name});
  const std::lock_guard<std::mutex> lock(mutex_);
  if (known_.size() >= kMostKnown) known_.clear();
  known_[name] = {.tenant = tenant, .at = now};
  return tenant;
}

std::optional<HttpResponse> Tenants::Refusal(const std::string& name) {
  const auto tenant = Find(name);
  if (!tenant.ok()) return ServiceProblem(tenant.status());
  if (tenant->is_being_deleted) return Problem(403, absl::StrCat("tenant ", name, " is being deleted"));
  const int64_t rate = tenant->quota.requests_per_second;
  const double wait = requests_.Admit(name, static_cast<int>(2 * rate), 1.0 / static_cast<double>(rate));
  if (wait <= 0) return std::nullopt;
  ++refusals_[kAtRequests];
  return TooManyProblem(wait, absl::StrCat("tenant ", name, " may send ", rate,
                                           " requests a second, and sends more; wait as Retry-After says"));
}

absl::StatusOr<double> Tenants::DeviceSeconds(const TenantRecord& tenant) {
  return store_.DeviceSeconds(tenant.name, tenant.quota.FirstDay(Today()));
}

std::optional<std::string> RefusalOfDevices(const TenantRecord& tenant, double used) {
  if (used < static_cast<double>(tenant.quota.device_seconds)) return std::nullopt;
  return absl::StrCat("tenant ", tenant.name, " may use devices for ", tenant.quota.device_seconds,
                      " seconds in ", tenant.quota.period_days, " days, and has used ",
                      static_cast<int64_t>(std::floor(used)),
                      "; wait until the oldest of these days is past, or ask the administrator for more");
}

absl::StatusOr<std::optional<HttpResponse>> Tenants::RefusalOfJobs(const std::string& name, int64_t jobs) {
  ASSIGN_OR_RETURN(const TenantRecord tenant, Find(name));
  ASSIGN_OR_RETURN(const TenantState state, state_(name));
  if (state.jobs + jobs > tenant.quota.jobs) {
    ++refusals_[kAtJobs];
    return TooManyProblem(kJobsRetrySeconds, absl::StrCat("tenant ", name, " may have ", tenant.quota.jobs,
                                                          " jobs that are not over, and has ", state.jobs,
                                                          "; wait until some have ended, or cancel some"));
  }
  ASSIGN_OR_RETURN(const double used, DeviceSeconds(tenant));
  const std::optional<std::string> why = RefusalOfDevices(tenant, used);
  if (!why) return std::nullopt;
  ++refusals_[kAtDeviceSeconds];
  // The oldest day goes at midnight.
  const double wait = static_cast<double>((Today() + 1) * kDayMs - clock_.WallMillis()) / 1000;
  return TooManyProblem(wait, *why);
}

absl::StatusOr<std::optional<HttpResponse>> Tenants::RefusalOfBytes(const std::string& name, int64_t bytes) {
  ASSIGN_OR_RETURN(const TenantRecord tenant, Find(name));
  ASSIGN_OR_RETURN(const TenantState state, state_(name));
  if (bytes <= tenant.quota.stored_bytes - state.stored_bytes) return std::nullopt;
  ++refusals_[kAtStoredBytes];
  return Problem(403,
                 absl::StrCat("tenant ", name, " may store ", tenant.quota.stored_bytes, " bytes, and has ",
                              state.stored_bytes, "; delete uploads, or ask the administrator for more"));
}

void Tenants::AddMetrics(MetricsText& text) const {
  constexpr const char* kNames[kNumBounds] = {"requests", "jobs", "device_seconds", "stored_bytes"};
  text.Begin("attune_quota_refusals_total", "counter", "Requests that were refused, by the quota reached.");
  for (size_t i = 0; i < kNumBounds; ++i)
    text.Add(static_cast<double>(refusals_[i].load()), {{"quota", kNames[i]}});
}

absl::Status Tenants::Look(const std::string& name) {
  ASSIGN_OR_RETURN(const TenantState state, state_(name));
  return store_.SetStoredBytes(name, Today(), state.stored_bytes);
}

}  // namespace attune
