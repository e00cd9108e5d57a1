// Tenants: what they may use, what they have used, and what they share.
#ifndef ATTUNE_SERVICE_STATE_TENANT_STORE_H_
#define ATTUNE_SERVICE_STATE_TENANT_STORE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/sql/sql_database.h"

namespace attune {

// The quota of a tenant.
struct TenantQuota {
  int64_t stored_bytes = int64_t{32} << 30;  // of uploads and of jobs' files
  int64_t jobs = 10'000;                     // that are not over
  int64_t device_seconds = 1'000'000'000;    // in a period
  int64_t period_days = 30;                  // days of a period, today included
  int64_t requests_per_second = 5000;        // of all its tokens and people together

  bool operator==(const TenantQuota&) const = default;
  // The first day of the period that ends today, in days since 1970.
  int64_t FirstDay(int64_t today) const { return today - period_days + 1; }
};

// The data that a tenant shares with others; nothing without its consent.
struct TenantConsent {
  bool answers = false;     // others' jobs for a network that it has tuned begin with its records of that
  bool cost_model = false;  // the shared cost model learns from its measurements

  bool operator==(const TenantConsent&) const = default;
};

struct TenantRecord {
  std::string name = {};
  bool is_being_deleted = false;
  int64_t created_ms = 0;  // since 1970, UTC
  TenantQuota quota = {};
  TenantConsent consent = {};

  bool operator==(const TenantRecord&) const = default;
};

// The usage of one tenant on one day (UTC); days count since 1970.
struct TenantUsage {
  std::string tenant = {};
  int64_t day = 0;
  double device_seconds = 0;
  int64_t stored_bytes = 0;  // at the day's last look

  bool operator==(const TenantUsage&) const = default;
};

inline constexpr int64_t kMostTenants = 100'000;

const SqlSchema& TenantSchema();

// Thread safe. A change has taken effect when its call returns.
class TenantStore {
 public:
  // As SqlLocation::Open().
  static absl::StatusOr<std::unique_ptr<TenantStore>> Open(const SqlLocation& location);

  // AlreadyExists if it is known.
  absl::Status Add(const TenantRecord& tenant);
  // The same, unless it is known.
  absl::Status Ensure(const std::string& name, int64_t now_ms);
  absl::StatusOr<std::optional<TenantRecord>> Find(const std::string& name);
  // By name.
  absl::StatusOr<std::vector<TenantRecord>> All();
  // NotFound if there is no such tenant, here and below.
  absl::Status SetQuota(const std::string& name, const TenantQuota& quota);
  absl::Status SetConsent(const std::string& name, const TenantConsent& consent);
  absl::Status BeginDeletion(const std::string& name);
  // Forgets it, with its usage.
  absl::Status Remove(const std::string& name);

  absl::Status AddDeviceSeconds(const std::string& tenant, int64_t day, double seconds);
  absl::Status SetStoredBytes(const std::string& tenant, int64_t day, int64_t bytes);
  // The sum of all days from this one on.
  absl::StatusOr<double> DeviceSeconds(const std::string& tenant, int64_t first_day);
  // The usage of the tenant, or of all if it is empty, by day and tenant; both days included.
  absl::StatusOr<std::vector<TenantUsage>> Usage(const std::string& tenant, int64_t first_day,
                                                 int64_t last_day);

 private:
  explicit TenantStore(std::unique_ptr<SqlDatabase> database) : database_(std::move(database)) {}
  absl::Status Change(const std::string& name, const std::string& sql, const std::vector<SqlValue>& values);

  const std::unique_ptr<SqlDatabase> database_;
};

// Whether the shared cost model may learn from the tenant's measurements, as it stands now.
absl::StatusOr<bool> TeachesCostModel(TenantStore& store, const std::string& tenant);
// Returns the tenants that share their answers now.
absl::StatusOr<std::set<std::string>> TenantsThatAnswer(TenantStore& store);

}  // namespace attune

#endif  // ATTUNE_SERVICE_STATE_TENANT_STORE_H_
