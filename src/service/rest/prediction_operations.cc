// Predictions: what would be promised to a job.
#include "base/status.h"
#include "service/access/texts.h"
#include "service/rest/job_agreements.h"
#include "service/rest/job_json.h"
#include "service/rest/operations.h"

namespace attune {
namespace {

JsonSchema RangeSchema() {
  return ObjectSchema(
      {{"low", NumberSchema()}, {"median", NumberSchema()}, {"high", OrNull(NumberSchema())}});
}

JsonSchema PredictionSchema() {
  JsonSchema verdicts = {"known", "accepted", "renegotiated", "refused"};
  const JsonSchema offer =
      ObjectSchema({{"name", TextSchema()}, {"limit", NumberSchema()}, {"probability", NumberSchema()}});
  return ObjectSchema({{"verdict", {{"type", "string"}, {"enum", verdicts}}},
                       {"reason", TextSchema()},
                       {"promises", ListSchema(SchemaNamed("Promise"))},
                       {"offers", ListSchema(offer)},
                       {"latency_ms", RangeSchema()},
                       {"latency_prior_ms", RangeSchema()},
                       {"bound_ms", NumberSchema()},
                       {"finish_seconds", RangeSchema()},
                       {"finish_prior_seconds", RangeSchema()},
                       {"queue_seconds", NumberSchema()}});
}

absl::StatusOr<HttpResponse> Predict(const PredictionParts& parts, const RestCall& call) {
  ASSIGN_OR_RETURN(const auto job, SubmittedJobOf(call.body, call.caller.tenant, parts.uploads));
  RETURN_IF_ERROR(CheckModelOf(job, call.caller.tenant, parts.models));
  ASSIGN_OR_RETURN(const AskedJob asked, AskedJobOf(call.body, job, call.caller.tenant));
  const absl::StatusOr<AgreementForecast> made = parts.forecaster.Forecast(asked);
  if (absl::IsAborted(made.status())) return ImportingProblem(made.status());
  ASSIGN_OR_RETURN(const AgreementForecast forecast, made);
  return JsonResponse(JsonSchema(ToJson(forecast)));
}

}  // namespace

void AddPredictionOperations(const PredictionParts& parts, RestApi& api) {
  constexpr size_t kMostBytes = size_t{1} << 20;
  api.schemas["Prediction"] = PredictionSchema();
  api.operations.push_back(
      {.id = "predict",
       .route = {"POST", "/v1/predictions"},
       .summary = "Predicts the promises for a job that would be submitted now, with the evidence for each.",
       .role = AccessRole::kMember,
       .body = SchemaNamed("NewJob"),
       .most_body_bytes = kMostBytes,
       .answers = {{.help = "The promises, each with its probability", .schema = SchemaNamed("Prediction")}},
       .problems = {404, 409, 422},
       .changes_nothing = true,
       .handler = [parts](const RestCall& call) { return Predict(parts, call); }});
}

}  // namespace attune
