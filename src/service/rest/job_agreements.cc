#include "service/rest/job_agreements.h"

#include <cmath>

#include "base/json_at.h"
#include "base/status.h"
#include "service/access/problems.h"
#include "service/agreement/promises_of_job.h"
#include "service/rest/job_models.h"

namespace attune {
namespace {

using Json = nlohmann::json;

Json JudgedJson(const PromiseRange& range) {
  return {range.median, range.low, std::isfinite(range.high) ? Json(range.high) : Json(nullptr)};
}

}  // namespace

absl::StatusOr<AskedJob> AskedJobOf(const Json& body, const jobs_service_proto::SubmittedJob& job,
                                    const std::string& tenant) {
  AskedJob asked = {
      .tenant = tenant, .kind = job.kind(), .on = job.on(), .settings = Json::parse(job.settings())};
  ASSIGN_OR_RETURN(asked.model, ModelOfJob(job));
  for (const auto& input : job.inputs()) asked.inputs.push_back(input.name());
  absl::StatusOr<Agreement> agreement = AgreementOfJson(body.value("agreement", Json::object()));
  if (!agreement.ok()) return Annotate(agreement.status(), "/agreement");
  asked.agreement = *std::move(agreement);
  return asked;
}

void KeepAgreement(const AskedJob& asked, const Outlook& outlook, jobs_service_proto::SubmittedJob& job) {
  const KeptAgreement kept = {.agreement = asked.agreement,
                              .promises = outlook.promises,
                              .latency_ms = outlook.latency_ms,
                              .slowest_ms = outlook.slowest_ms,
                              .bound_ms = outlook.bound_ms,
                              .queue_seconds = outlook.queue_seconds,
                              .finish_seconds = outlook.finish_seconds.median,
                              .network = outlook.network,
                              .interface = outlook.interface};
  job.set_agreement(kept.ToText());
  job.set_settings(SettingsWithin(asked, outlook.queue_seconds).dump());
  if (job.deadline_seconds() == 0) job.set_deadline_seconds(asked.agreement.deadline_seconds.value_or(0));
}

HttpResponse ImportingProblem(const absl::Status& importing) {
  constexpr double kAgainSeconds = 5;
  return TooManyProblem(kAgainSeconds, importing.message());
}

JobDesk::KnownResult ResultOfKnown(const AskedJob& asked, const Observation& known) {
  const Json judged = {{"runs", known.runs},
                       {"mean_ms", JudgedJson(known.mean_ms)},
                       {"p99_ms", JudgedJson(known.p99_ms)},
                       {"network", known.network},
                       {"kernels", known.kernels},
                       {"artifact_bytes", known.artifact_bytes},
                       {"compiler", known.compiler},
                       {"device", known.device},
                       {"threads", known.threads}};
  JobFile file = known.artifact;
  file.name = TextAt(asked.settings, "/output", file.name);
  return {.files_owner = known.files_owner,
          .file = std::move(file),
          .result = Json{
              {"is_known", true},
              {"tuned_ms", known.mean_ms.median},
              {"device_seconds", 0},
              {"judged",
               judged}}.dump(-1, ' ', false, Json::error_handler_t::replace)};
}

}  // namespace attune
