// The service Jobs (wire/jobs.proto) of a fleet's server.
#ifndef ATTUNE_SERVICE_SERVER_JOB_SERVER_H_
#define ATTUNE_SERVICE_SERVER_JOB_SERVER_H_

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "fleet/server/fleet_server.h"
#include "service/server/job_schedule.h"

namespace attune {

// For FleetServerOptions::extension. Fails if the folder cannot be made.
absl::StatusOr<std::unique_ptr<FleetExtension>> MakeJobServer(const JobScheduleOptions& options,
                                                              const FleetServerParts& parts);

}  // namespace attune

#endif  // ATTUNE_SERVICE_SERVER_JOB_SERVER_H_
