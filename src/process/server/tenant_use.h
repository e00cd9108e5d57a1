// Adds up what a tenant has.
#ifndef ATTUNE_PROCESS_SERVER_TENANT_USE_H_
#define ATTUNE_PROCESS_SERVER_TENANT_USE_H_

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "service/queue/job_desk.h"
#include "service/queue/sent_files.h"
#include "service/state/service_store.h"
#include "service/tenants/tenants.h"

namespace attune {

// Thread safe. The arguments must outlive it.
class TenantUse {
 public:
  // Adding up the bytes of jobs takes long: the sum may be this many seconds old.
  TenantUse(JobDesk& jobs, ServiceStore& store, double seconds = 60, const Clock& clock = SystemClock())
      : jobs_(jobs), store_(store), seconds_(seconds), clock_(clock) {}

  absl::StatusOr<TenantState> StateOf(const std::string& tenant);

 private:
  struct Known {
    int64_t bytes = 0;
    double at = 0;
  };
  absl::StatusOr<int64_t> BytesOfJobs(const std::string& tenant);

  JobDesk& jobs_;
  ServiceStore& store_;
  const double seconds_;
  const Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, Known> known_;
};

// Records the end of a stage that had a device for `seconds`. A failure goes to the log.
void CountDeviceSeconds(TenantStore& store, const std::string& tenant, double seconds,
                        const Clock& clock = SystemClock());
// RefusalOfDevices() as it stands now, with so many seconds that are not counted yet.
absl::StatusOr<std::optional<std::string>> DeviceRefusalOf(TenantStore& store, const std::string& tenant,
                                                           double running,
                                                           const Clock& clock = SystemClock());

// The room for a tenant's bytes now, and the bytes of its uploads.
absl::StatusOr<StorageShare> StorageShareOf(TenantStore& tenants, ServiceStore& uploads,
                                            const std::string& tenant);

}  // namespace attune

#endif  // ATTUNE_PROCESS_SERVER_TENANT_USE_H_
