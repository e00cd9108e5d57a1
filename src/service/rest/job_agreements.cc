#include "service/rest/job_agreements.h"

#include <cmath>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json_at.h"
#include "base/status.h"
#include "nlohmann/json.hpp"
#include "service/access/problems.h"
#include "service/agreement/promises_of_job.h"
#include "work/job/settings.h"

namespace attune {
namespace {

using Json = nlohmann::json;

Json JudgedJson(const PromiseRange& range) {
  return {range.median, range.low, std::isfinite(range.high) ? Json(range.high) : Json(nullptr)};
}

constexpr char kSetting[] = "model";

// The job's input that is the main file of this model; nothing if there is none.
std::optional<std::string> MainFileOf(const jobs_service_proto::SubmittedJob& job, const std::string& model) {
  for (const std::string& name : {model, model + "/saved_model.pb"}) {
    for (const auto& input : job.inputs())
      if (input.name() == name) return name;
  }
  return std::nullopt;
}

}  // namespace

absl::StatusOr<std::optional<ModelSource>> ModelOfJob(const jobs_service_proto::SubmittedJob& job) {
  const Json settings = Json::parse(job.settings(), nullptr, /*allow_exceptions=*/false);
  if (!settings.is_object() || !settings.contains(kSetting) || !settings[kSetting].is_string())
    return std::nullopt;
  const auto main = MainFileOf(job, settings[kSetting].get<std::string>());
  if (!main) return std::nullopt;
  const size_t folder_bytes = main->rfind('/') + 1;  // 0 without a folder
  const std::string_view folder = std::string_view(*main).substr(0, folder_bytes);
  ModelSource source;
  for (const auto& input : job.inputs()) {
    if (!input.name().starts_with(folder)) continue;
    ModelFile file = {input.name().substr(folder_bytes), input.digest()};
    source.files.insert(input.name() == *main ? source.files.begin() : source.files.end(), std::move(file));
  }
  SettingsReader reader(settings, "");
  reader.Read("shapes", source.shapes);
  reader.Read("signature", source.signature);
  RETURN_IF_ERROR(reader.status());
  RETURN_IF_ERROR(CheckModelSource(source));
  return source;
}

absl::Status CheckModelOf(const jobs_service_proto::SubmittedJob& job, const std::string& tenant,
                          Models& models) {
  ASSIGN_OR_RETURN(const std::optional<ModelSource> source, ModelOfJob(job));
  if (!source) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::optional<std::string> refusal, models.RefusalOf(tenant, *source));
  if (!refusal) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("/settings/", kSetting, ": ", *refusal));
}

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

void KeepAgreement(const AskedJob& asked, const AgreementForecast& forecast,
                   jobs_service_proto::SubmittedJob& job) {
  const KeptAgreement kept = {.agreement = asked.agreement,
                              .promises = forecast.promises,
                              .latency_ms = forecast.latency_ms,
                              .slowest_ms = forecast.slowest_ms,
                              .bound_ms = forecast.bound_ms,
                              .queue_seconds = forecast.queue_seconds,
                              .finish_seconds = forecast.finish_seconds.median,
                              .network = forecast.network,
                              .interface = forecast.interface};
  job.set_agreement(kept.ToText());
  job.set_settings(SettingsWithin(asked, forecast.queue_seconds).dump());
  if (job.deadline_seconds() == 0) job.set_deadline_seconds(asked.agreement.deadline_seconds.value_or(0));
}

HttpResponse ImportingProblem(const absl::Status& importing) {
  constexpr double kAgainSeconds = 5;
  return TooManyProblem(kAgainSeconds, importing.message());
}

KnownResult ResultOfKnown(const AskedJob& asked, const Observation& known) {
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
