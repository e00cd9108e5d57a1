// The jobs of a fleet's server: a desk for those who ask by REST, and the service of runners
// (wire/jobs.proto).
#ifndef ATTUNE_SERVICE_SERVER_JOB_SERVER_H_
#define ATTUNE_SERVICE_SERVER_JOB_SERVER_H_

#include <memory>

#include "absl/status/statusor.h"
#include "fleet/server/fleet_server.h"
#include "service/server/job_desk.h"

namespace attune {

// For FleetServerOptions::extension.
class JobServer : public FleetExtension {
 public:
  // Lives as long as the extension.
  virtual JobDesk& desk() = 0;
};

// Fails if the folder cannot be made.
absl::StatusOr<std::unique_ptr<JobServer>> MakeJobServer(const JobScheduleOptions& options,
                                                         const FleetServerParts& parts);

}  // namespace attune

#endif  // ATTUNE_SERVICE_SERVER_JOB_SERVER_H_
