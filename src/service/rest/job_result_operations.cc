// The results of a job: its files, and events while it runs.
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "base/file_descriptor.h"
#include "base/log.h"
#include "base/sha256.h"
#include "base/status.h"
#include "http/file_response.h"
#include "http/problem.h"
#include "service/rest/operations.h"
#include "service/rest/trace.h"

namespace attune {
namespace {

// Up to this size, a file is checked before its first byte is sent, whatever part of it is asked for. A
// larger one is checked while it is sent (http/message.h), since that would take too long.
constexpr int64_t kCheckedFirst = int64_t{64} << 20;

absl::StatusOr<HttpResponse> File(JobReader& jobs, const RestCall& call) {
  ASSIGN_OR_RETURN(OpenedJobFile opened,
                   jobs.OpenFile({.id = call.Text("id"), .owner = call.caller.tenant}, call.Text("name")));
  const absl::StatusOr<std::string> digest =
      opened.file.bytes <= kCheckedFirst ? Sha256OfFile(opened.file) : opened.digest;
  if (!digest.ok() || *digest != opened.digest) {
    Log(LogLevel::kError, "a file of a job is damaged", "job", call.Text("id"), "file", call.Text("name"),
        "sha256", opened.digest);
    return Problem(500, absl::StrCat(call.Text("name"), ": the server's copy is damaged; run the job again"));
  }
  // A browser is to keep what strangers have made, and not to show it.
  return FileResponse(
      call.request,
      {.file = std::make_shared<FileDescriptor>(std::move(opened.file.descriptor)),
       .bytes = opened.file.bytes,
       .sha256 = opened.digest},
      {.content_type = "application/octet-stream",
       .headers = {{"Content-Disposition", "attachment"}, {"X-Content-Type-Options", "nosniff"}}});
}

absl::StatusOr<HttpResponse> Trace(JobReader& jobs, const RestCall& call) {
  ASSIGN_OR_RETURN(const auto detail, jobs.Show({.id = call.Text("id"), .owner = call.caller.tenant}));
  HttpResponse response = JsonResponse(TraceOfJob(detail, SystemClock().WallMillis()));
  response.headers["Cache-Control"] = "no-store";
  return response;
}

absl::StatusOr<HttpResponse> Events(JobEvents& events, const RestCall& call) {
  ASSIGN_OR_RETURN(auto stream, events.Follow({.id = call.Text("id"), .owner = call.caller.tenant},
                                              call.Text("Last-Event-ID")));
  // By this, a browser knows that it need not come again.
  if (stream == nullptr) return HttpResponse{.status = 204};
  return HttpResponse{.events = std::move(stream)};
}

}  // namespace

void AddJobResultOperations(JobReader& jobs, JobEvents& events, RestApi& api) {
  const RestParameter id = {.name = "id", .place = "path", .help = "The id of the job"};
  api.operations.push_back(
      {.id = "getJobFile",
       .route = {"GET", "/v1/jobs/{id}/files/{name...}"},
       .summary = "Downloads a file of a job; files that it makes for people are below out/.",
       .parameters = {id,
                      {.name = "name", .place = "path", .help = "The name of the file"},
                      {.name = "Range", .place = "header", .help = "Only some of its bytes: \"bytes=100-\""},
                      {.name = "If-Range",
                       .place = "header",
                       .help = "ETag of the file of which the client has a part"},
                      {.name = "If-None-Match", .place = "header", .help = "ETag of the client's copy"}},
       .answers = {{.help = "The file",
                    .type = "application/octet-stream",
                    .headers = {{"ETag", "The file's SHA-256"},
                                {"Repr-Digest", "The SHA-256 in the form of RFC 9530"}}},
                   {.status = 304, .help = "The client has the file already"},
                   {.status = 206,
                    .help = "Some of its bytes",
                    .type = "application/octet-stream",
                    .headers = {{"Content-Range", "Range of these bytes, and the size of the file"}}}},
       .problems = {404, 416},
       .handler = [&jobs](const RestCall& call) { return File(jobs, call); }});
  api.operations.push_back({.id = "getJobTrace",
                            .route = {"GET", "/v1/jobs/{id}/trace"},
                            .summary = "Returns the job's spans in OTLP/JSON, for tools that show traces: "
                                       "its stages and its waiting times.",
                            .parameters = {id},
                            .answers = {{.help = "The trace", .schema = {{"type", "object"}}}},
                            .problems = {404},
                            .handler = [&jobs](const RestCall& call) { return Trace(jobs, call); }});
  api.operations.push_back({.id = "followJob",
                            .route = {"GET", "/v1/jobs/{id}/events"},
                            .summary = "Streams a job as server-sent events, in the form of the list: at "
                                       "once and after each change, until it is over.",
                            .parameters = {id,
                                           {.name = "Last-Event-ID",
                                            .place = "header",
                                            .help = "Id of the last event that was received"}},
                            .answers = {{.help = "Events", .type = "text/event-stream"},
                                        {.status = 204, .help = "The job is over, and nothing has changed"}},
                            .problems = {404},
                            .handler = [&events](const RestCall& call) { return Events(events, call); }});
  api.operations.push_back({.id = "followJobs",
                            .route = {"GET", "/v1/events"},
                            .summary = "Streams the tenant's jobs as server-sent events, in the form of "
                                       "their list: each new or changed job.",
                            .answers = {{.help = "Events, without an end", .type = "text/event-stream"}},
                            .handler = [&events](const RestCall& call) -> absl::StatusOr<HttpResponse> {
                              ASSIGN_OR_RETURN(auto stream, events.FollowAll(call.caller.tenant));
                              return HttpResponse{.events = std::move(stream)};
                            }});
}

}  // namespace attune
