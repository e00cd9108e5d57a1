// Jobs as JSON, and their schemas.
#ifndef ATTUNE_SERVICE_REST_JOB_JSON_H_
#define ATTUNE_SERVICE_REST_JOB_JSON_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/json_schema.h"
#include "nlohmann/json.hpp"
#include "service/uploads/uploads.h"
#include "service/wire/jobs.pb.h"

namespace attune {

// Adds "Job", "JobDetail", "NewJob", "Agreement" and "Promise" to the named schemas.
void AddJobSchemas(JsonSchema& schemas);

JsonSchema ToJson(const jobs_service_proto::Job& job);
JsonSchema ToJson(const jobs_service_proto::JobDetail& detail);

// The job that a body describes, which follows "NewJob". An output that its kind always has gets a name if it
// has none. Fails, naming the place in the body, if an input was not sent by the tenant, and as
// CheckSubmittedJob() does: users of the job may rely on its names and settings.
absl::StatusOr<jobs_service_proto::SubmittedJob> SubmittedJobOf(const nlohmann::json& body,
                                                                const std::string& tenant, Uploads& uploads);

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_JOB_JSON_H_
