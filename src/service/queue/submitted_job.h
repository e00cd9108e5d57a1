// Checks jobs that clients submit to a server.
#ifndef ATTUNE_SERVICE_QUEUE_SUBMITTED_JOB_H_
#define ATTUNE_SERVICE_QUEUE_SUBMITTED_JOB_H_

#include <string>

#include "absl/status/statusor.h"
#include "service/wire/jobs.pb.h"
#include "work/store/stage_log.h"

namespace attune {

// The job as the store gets it, with its name in the place of its id. Fails, naming the job and the setting,
// if its kind finds a setting wrong or has no place on a server, if a setting names a file that is not among
// the job's own, or if it measures on a device and names none: nothing that is submitted ever names a path or
// a command of a machine.
absl::StatusOr<JobRecord> CheckSubmittedJob(const jobs_service_proto::SubmittedJob& submitted,
                                            const std::string& owner);

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_SUBMITTED_JOB_H_
