// Agreements of jobs that are submitted over REST.
#ifndef ATTUNE_SERVICE_REST_JOB_AGREEMENTS_H_
#define ATTUNE_SERVICE_REST_JOB_AGREEMENTS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "http/message.h"
#include "nlohmann/json.hpp"
#include "service/agreement/agreement_desk.h"
#include "service/queue/job_desk.h"
#include "service/wire/jobs.pb.h"

namespace attune {

// Returns the agreement in the body, which follows "NewJob" and from which `job` was made; empty if there is
// none.
absl::StatusOr<AskedJob> AskedJobOf(const nlohmann::json& body, const jobs_service_proto::SubmittedJob& job,
                                    const std::string& tenant);

// Gives the job its agreement with the promises, and the limits that follow from it, unless the body has said
// otherwise.
void KeepAgreement(const AskedJob& asked, const Outlook& outlook, jobs_service_proto::SubmittedJob& job);

// The forecast does not wait for the model's import: 429, since clients then ask again by themselves.
HttpResponse ImportingProblem(const absl::Status& importing);

// The result of a job that is answered by what another one has measured.
JobDesk::KnownResult ResultOfKnown(const AskedJob& asked, const Observation& known);

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_JOB_AGREEMENTS_H_
