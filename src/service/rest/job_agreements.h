// Agreements of jobs that are submitted over REST.
#ifndef ATTUNE_SERVICE_REST_JOB_AGREEMENTS_H_
#define ATTUNE_SERVICE_REST_JOB_AGREEMENTS_H_

#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "http/message.h"
#include "nlohmann/json.hpp"
#include "service/agreement/agreement_forecast.h"
#include "service/agreement/asked_job.h"
#include "service/models/models.h"
#include "service/queue/job_submissions.h"
#include "service/wire/jobs.pb.h"

namespace attune {

// Returns the model of a checked job (CheckSubmittedJob()) as its process will find it, with all files that
// lie beside it; nothing if the job has none. Fails, naming the setting, if it cannot be one.
absl::StatusOr<std::optional<ModelSource>> ModelOfJob(const jobs_service_proto::SubmittedJob& job);

// Fails with the importer's sentence (Unimplemented) if the job's model was imported before, and refused.
absl::Status CheckModelOf(const jobs_service_proto::SubmittedJob& job, const std::string& tenant,
                          Models& models);

// Returns the agreement in the body, which follows "NewJob" and from which `job` was made; empty if there is
// none.
absl::StatusOr<AskedJob> AskedJobOf(const nlohmann::json& body, const jobs_service_proto::SubmittedJob& job,
                                    const std::string& tenant);

// Gives the job its agreement with the promises, and the limits that follow from it, unless the body has said
// otherwise.
void KeepAgreement(const AskedJob& asked, const AgreementForecast& forecast,
                   jobs_service_proto::SubmittedJob& job);

// The forecast does not wait for the model's import: 429, since clients then ask again by themselves.
HttpResponse ImportingProblem(const absl::Status& importing);

// The result of a job that is answered by what another one has measured.
KnownResult ResultOfKnown(const AskedJob& asked, const Observation& known);

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_JOB_AGREEMENTS_H_
