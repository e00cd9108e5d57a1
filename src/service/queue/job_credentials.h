// Credentials by which jobs measure, those of clients of their owners: made when a machine gets a job,
// revoked when the job moves or ends.
#ifndef ATTUNE_SERVICE_QUEUE_JOB_CREDENTIALS_H_
#define ATTUNE_SERVICE_QUEUE_JOB_CREDENTIALS_H_

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fleet/serving/fleet_parts.h"
#include "work/job/job_spec.h"

namespace attune {

// For the thread that schedules. `parts` must outlive it.
class JobCredentials {
 public:
  explicit JobCredentials(const FleetParts& parts) : parts_(parts) {}

  // New ones (fleet/identity/credentials.h); the job's earlier ones are revoked.
  absl::StatusOr<std::string> New(const JobSpec& job);
  // Revokes the credentials of all jobs that are not among these.
  absl::Status KeepOnly(const std::set<std::string_view>& jobs);
  // Nor those that an earlier server has given.
  absl::Status RevokeAll();

 private:
  absl::Status Revoke(const std::string& identity);

  const FleetParts parts_;
  std::map<std::string, std::string> identities_;  // the ids of their certificates, by job
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_JOB_CREDENTIALS_H_
