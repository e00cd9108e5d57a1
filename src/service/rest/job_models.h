// The models that jobs name.
#ifndef ATTUNE_SERVICE_REST_JOB_MODELS_H_
#define ATTUNE_SERVICE_REST_JOB_MODELS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "service/models/models.h"
#include "service/wire/jobs.pb.h"

namespace attune {

// Returns the model of a checked job (CheckSubmittedJob()) as its process will find it, with all files that
// lie beside it; nothing if the job has none. Fails, naming the setting, if it cannot be one.
absl::StatusOr<std::optional<ModelSource>> ModelOfJob(const jobs_service_proto::SubmittedJob& job);

// Fails with the importer's sentence (Unimplemented) if the job's model was imported before, and refused.
absl::Status CheckModelOf(const jobs_service_proto::SubmittedJob& job, const std::string& tenant,
                          Models& models);

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_JOB_MODELS_H_
