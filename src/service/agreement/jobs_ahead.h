// The jobs that a new one would wait for.
#ifndef ATTUNE_SERVICE_AGREEMENT_JOBS_AHEAD_H_
#define ATTUNE_SERVICE_AGREEMENT_JOBS_AHEAD_H_

#include <span>
#include <string>
#include <vector>

#include "fleet/serving/device_directory.h"
#include "service/agreement/duration_model.h"
#include "service/wire/jobs.pb.h"

namespace attune {

// Returns those of the unfinished jobs that ask for the same devices as a job of the tenant with this key,
// whosever they are and whatever their keys.
std::vector<JobAhead> JobsAheadOf(const std::string& tenant, const std::string& key,
                                  std::span<const jobs_service_proto::Job> unfinished,
                                  const DeviceDirectory& devices);

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_JOBS_AHEAD_H_
