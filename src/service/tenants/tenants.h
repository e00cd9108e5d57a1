// Holds tenants to what they may use.
#ifndef ATTUNE_SERVICE_TENANTS_TENANTS_H_
#define ATTUNE_SERVICE_TENANTS_TENANTS_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/metrics_text.h"
#include "base/rate_limit.h"
#include "http/message.h"
#include "service/state/tenant_store.h"

namespace attune {

// The current use of a tenant.
struct TenantState {
  int64_t jobs = 0;          // that are not over
  int64_t stored_bytes = 0;  // of uploads and of jobs' files
};

// Returns a sentence that says why a tenant that has used devices for `seconds` of its period may not use
// them any more; nothing: it may.
std::optional<std::string> RefusalOfDevices(const TenantRecord& tenant, double used);

// Thread safe. The store and the clock must outlive it.
class Tenants {
 public:
  using State = std::function<absl::StatusOr<TenantState>(const std::string& tenant)>;
  Tenants(TenantStore& store, State state, const Clock& clock = SystemClock())
      : store_(store), state_(std::move(state)), clock_(clock), requests_({}, clock) {}

  // A tenant without a row has the default quota and shares nothing. The result may be some moments old.
  absl::StatusOr<TenantRecord> Find(const std::string& name);
  // The problem because of which a request of the tenant is refused: it asks too often, or is being deleted.
  std::optional<HttpResponse> Refusal(const std::string& name);
  // Returns the problem because of which the tenant may not submit that many more jobs, or store that many
  // more bytes; nothing: it may.
  absl::StatusOr<std::optional<HttpResponse>> RefusalOfJobs(const std::string& name, int64_t jobs);
  absl::StatusOr<std::optional<HttpResponse>> RefusalOfBytes(const std::string& name, int64_t bytes);

  absl::StatusOr<TenantState> StateOf(const std::string& name) const { return state_(name); }
  absl::StatusOr<double> DeviceSeconds(const TenantRecord& tenant);
  // Brings what a tenant stores up to date in its usage.
  absl::Status Look(const std::string& name);

  // How often tenants were refused, by the bound that they were at.
  void AddMetrics(MetricsText& text) const;

  int64_t Today() const;
  TenantStore& store() { return store_; }

 private:
  enum Bound : uint8_t { kAtRequests, kAtJobs, kAtDeviceSeconds, kAtStoredBytes, kNumBounds };

  struct Known {
    TenantRecord tenant = {};
    double at = 0;
  };

  TenantStore& store_;
  const State state_;
  const Clock& clock_;
  RateLimit requests_;
  std::array<std::atomic<int64_t>, kNumBounds> refusals_ = {};
  std::mutex mutex_;
  std::map<std::string, Known> known_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_TENANTS_TENANTS_H_
