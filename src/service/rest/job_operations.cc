// Jobs: submitted, listed, shown, cancelled.
#include <optional>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/status.h"
#include "http/problem.h"
#include "service/access/texts.h"
#include "service/rest/job_agreements.h"
#include "service/rest/job_json.h"
#include "service/rest/operation.h"
#include "service/rest/operations.h"

namespace attune {
namespace {

namespace proto = jobs_service_proto;

constexpr PageSize kPage = {.by_default = 50, .max = 500};
constexpr int kMostKeyLength = 200;
constexpr size_t kMostJobBytes = size_t{1} << 20;
constexpr int64_t kKeyDays = 7;
constexpr size_t kMostIdBytes = 200;
constexpr char kUnfinished[] = "unfinished";  // waiting or running

// The cursor of a list: it continues after this job. Clients are not to look into it.
std::string CursorAfter(const proto::Job& job) { return absl::WebSafeBase64Escape(job.id()); }

absl::StatusOr<std::string> JobOfCursor(const std::string& cursor) {
  std::string id;
  if (!cursor.empty() &&
      (!absl::WebSafeBase64Unescape(cursor, &id) || id.empty() || id.size() > kMostIdBytes))
    return UnknownCursor();
  return id;
}

// The state that the store keeps for one that people see.
std::optional<JobState> KeptState(const std::string& state) {
  if (state.empty()) return std::nullopt;
  for (const JobState kept : {JobState::kDone, JobState::kFailed, JobState::kCancelled})
    if (Name(kept) == state) return kept;
  return JobState::kUnfinished;
}

HttpResponse Created(const proto::Job& job) {
  HttpResponse response = JsonResponse(ToJson(job), 201);
  response.headers["Location"] = absl::StrCat("/v1/jobs/", job.id());
  return response;
}

// The problem because of which the tenant may not have one more job with these inputs.
absl::StatusOr<std::optional<HttpResponse>> RefusalOf(const SubmissionParts& parts, const std::string& tenant,
                                                      const proto::SubmittedJob& job) {
  ASSIGN_OR_RETURN(auto refusal, parts.tenants.RefusalOfJobs(tenant, 1));
  if (refusal) return refusal;
  int64_t bytes = 0;
  for (const proto::JobFile& input : job.inputs()) bytes += input.bytes();
  return parts.tenants.RefusalOfBytes(tenant, bytes);
}

// A job with an agreement: done at once by what is known, begun as promised, or refused with the reason.
absl::StatusOr<HttpResponse> Agreed(const SubmissionParts& parts, const RestCall& call,
                                    proto::Submission submission) {
  const std::string& tenant = call.caller.tenant;
  ASSIGN_OR_RETURN(const AskedJob asked, AskedJobOf(call.body, submission.jobs(0), tenant));
  const absl::StatusOr<AgreementForecast> made = parts.forecaster.Forecast(asked);
  if (absl::IsAborted(made.status())) return ImportingProblem(made.status());
  ASSIGN_OR_RETURN(const AgreementForecast forecast, made);
  if (forecast.verdict == Verdict::kRefused || forecast.verdict == Verdict::kRenegotiated)
    return absl::FailedPreconditionError(absl::StrCat("/agreement: ", forecast.reason));
  KeepAgreement(asked, forecast, *submission.mutable_jobs(0));
  if (forecast.known != nullptr) {
    const auto jobs = parts.submissions.SubmitKnown(tenant, call.caller.id, submission,
                                                    ResultOfKnown(asked, *forecast.known));
    if (jobs.ok()) return Created(jobs->front());
    // Its files may be gone; then it is tuned again.
    if (!absl::IsNotFound(jobs.status())) return jobs.status();
  }
  ASSIGN_OR_RETURN(std::optional<HttpResponse> refusal, RefusalOf(parts, tenant, submission.jobs(0)));
  if (refusal) return *std::move(refusal);
  ASSIGN_OR_RETURN(const auto jobs,
                   parts.submissions.Submit(tenant, call.caller.id, submission, parts.uploads.blobs(),
                                            parts.forecaster.RecordsFor(forecast)));
  return Created(jobs.front());
}

// `key`: identifies the submission.
absl::StatusOr<HttpResponse> SubmitAs(const std::string& key, const SubmissionParts& parts,
                                      const RestCall& call) {
  proto::Submission submission;
  submission.set_key(key);
  ASSIGN_OR_RETURN(*submission.add_jobs(), SubmittedJobOf(call.body, call.caller.tenant, parts.uploads));
  RETURN_IF_ERROR(CheckModelOf(submission.jobs(0), call.caller.tenant, parts.models));
  if (call.body.contains("agreement")) return Agreed(parts, call, std::move(submission));
  ASSIGN_OR_RETURN(std::optional<HttpResponse> refusal,
                   RefusalOf(parts, call.caller.tenant, submission.jobs(0)));
  if (refusal) return *std::move(refusal);
  ASSIGN_OR_RETURN(const auto jobs, parts.submissions.Submit(call.caller.tenant, call.caller.id, submission,
                                                             parts.uploads.blobs()));
  return Created(jobs.front());
}

// A key that comes twice stands for the same job; one that comes with another body is a mistake of the
// client.
absl::StatusOr<HttpResponse> Submit(const SubmissionParts& parts, const RestCall& call) {
  const std::string key = call.Text("Idempotency-Key");
  if (key.empty()) {
    ASSIGN_OR_RETURN(const std::string once, NewId());
    return SubmitAs(once, parts, call);
  }
  const std::string request = Sha256Hex(call.body.dump());
  const int64_t now_ms = SystemClock().WallMillis();
  ASSIGN_OR_RETURN(const std::string claimed,
                   parts.keys.ClaimKey(call.caller.tenant, key, request, now_ms, now_ms - kKeyDays * kDayMs));
  if (claimed != request)
    return Problem(422, "this Idempotency-Key was used with another body; take a new one for a new job");
  // The key may come again for another job once it is forgotten.
  const std::string once = Sha256Hex(absl::StrCat(key, "\n", request));
  absl::StatusOr<HttpResponse> response = SubmitAs(once, parts, call);
  constexpr int kCreated = 201;
  const bool is_taken = response.ok() && response->status == kCreated;
  if (is_taken || absl::IsUnavailable(response.status())) return response;
  // Since the key came for the first time, what the job names may be gone, and the tenant be at its quota.
  ASSIGN_OR_RETURN(const std::optional<proto::Job> known, parts.submissions.Find(call.caller.tenant, once));
  if (known) return Created(*known);
  // A refused request may be corrected under the same key.
  RETURN_IF_ERROR(parts.keys.ForgetKey(call.caller.tenant, key));
  return response;
}

absl::StatusOr<HttpResponse> List(JobReader& jobs, const RestCall& call) {
  const std::string state = call.Text("state");
  const int64_t most = MostOf(call, kPage);
  ASSIGN_OR_RETURN(const std::string before, JobOfCursor(call.Text("cursor")));
  // One more tells whether there is a further page.
  ASSIGN_OR_RETURN(
      auto found,
      jobs.List({.owner = call.caller.tenant, .state = KeptState(state), .before = before, .most = most + 1},
                /*with_judged=*/true));
  JsonSchema next = CutToPage(found, most, CursorAfter);
  JsonSchema list = JsonSchema::array();
  for (const proto::Job& job : found)
    if (state.empty() || state == kUnfinished || job.state() == state) list.push_back(ToJson(job));
  return PageOf("jobs", std::move(list), std::move(next));
}

RestOperation SubmitOperation(const SubmissionParts& parts) {
  return {
      .id = "submitJob",
      .route = {"POST", "/v1/jobs"},
      .summary = "Submits a job, whose settings name its inputs.",
      .role = AccessRole::kMember,
      .parameters =
          {{.name = "Idempotency-Key",
            .place = "header",
            .help =
                "A key that the client chooses: the same key again submits nothing and returns the same job",
            .schema = {{"type", "string"}, {"minLength", 1}, {"maxLength", kMostKeyLength}}}},
      .body = SchemaNamed("NewJob"),
      .most_body_bytes = kMostJobBytes,
      .answers = {{.status = 201,
                   .help = "The job is stored, and starts when it can",
                   .schema = SchemaNamed("Job"),
                   .headers = {{"Location", "URL of the job"}}}},
      .problems = {403, 404, 409, 422, 429},
      .handler = [parts](const RestCall& call) { return Submit(parts, call); }};
}

RestOperation ListOperation(JobReader& jobs) {
  return {.id = "listJobs",
          .route = {"GET", "/v1/jobs"},
          .summary = "Lists the tenant's jobs, latest first.",
          .parameters = {CursorParameter(),
                         MostParameter(kPage),
                         {.name = "state",
                          .place = "query",
                          .help = "Only jobs in this state; a page may then be shorter than the maximum",
                          .schema = {{"type", "string"},
                                     {"enum",
                                      {"waiting", "running", kUnfinished, "done", "failed", "cancelled"}}}}},
          .answers = {{.help = "A page of jobs", .schema = PageSchema("jobs", "Job")}},
          .handler = [&jobs](const RestCall& call) { return List(jobs, call); }};
}

}  // namespace

void AddJobOperations(const SubmissionParts& parts, JobReader& jobs, JobControl& control, RestApi& api) {
  AddJobSchemas(api.schemas);
  const RestParameter id = {.name = "id", .place = "path", .help = "The id of the job"};
  api.operations.push_back(SubmitOperation(parts));
  api.operations.push_back(ListOperation(jobs));
  api.operations.push_back(
      {.id = "getJob",
       .route = {"GET", "/v1/jobs/{id}"},
       .summary = "Returns a job with its stages, its files and its result.",
       .parameters = {id},
       .answers = {{.help = "The job", .schema = SchemaNamed("JobDetail")}},
       .problems = {404},
       .handler = [&jobs](const RestCall& call) -> absl::StatusOr<HttpResponse> {
         ASSIGN_OR_RETURN(const auto detail, jobs.Show({.id = call.Text("id"), .owner = call.caller.tenant}));
         return JsonResponse(ToJson(detail));
       }});
  api.operations.push_back(
      {.id = "cancelJob",
       .route = {"POST", "/v1/jobs/{id}/cancel"},
       .summary = "Cancels a job. A job that is over stays as it is.",
       .role = AccessRole::kMember,
       .parameters = {id},
       .answers = {{.help = "The job", .schema = SchemaNamed("Job")}},
       .problems = {404},
       .handler = [&control](const RestCall& call) -> absl::StatusOr<HttpResponse> {
         ASSIGN_OR_RETURN(const auto job, control.Cancel({.id = call.Text("id"), .owner = call.caller.tenant},
                                                         call.caller.id));
         return JsonResponse(ToJson(job));
       }});
}

}  // namespace attune
