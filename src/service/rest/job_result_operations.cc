// What a job makes: its files, and events while it goes on.
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

absl::StatusOr<HttpResponse> File(JobDesk& desk, const RestCall& call) {
  ASSIGN_OR_RETURN(OpenedJobFile opened,
                   desk.OpenFile({.id = call.Text("id"), .owner = call.caller.tenant}, call.Text("name")));
  const absl::StatusOr<std::string> digest =
      opened.file.bytes <= kCheckedFirst ? Sha256OfFile(opened.file) : opened.digest;
  if (!digest.ok() || *digest != opened.digest) {
    Log(LogLevel::kError, "a file of a job is damaged", "job", call.Text("id"), "file", call.Text("name"),
        "sha256", opened.digest);
    return Problem(500, absl::StrCat(call.Text("name"),
                                     ": what the server has kept of it is damaged; run the job again"));
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

absl::StatusOr<HttpResponse> Trace(JobDesk& desk, const RestCall& call) {
  ASSIGN_OR_RETURN(const auto detail, desk.Show({.id = call.Text("id"), .owner = call.caller.tenant}));
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

void AddJobResultOperations(const RestParts& parts, RestApi& api) {
  JobDesk& desk = parts.jobs;
  JobEvents& events = parts.events;
  const RestParameter id = {.name = "id", .place = "path", .help = "The id of the job"};
  api.operations.push_back(
      {.id = "getJobFile",
       .method = "GET",
       .path = "/v1/jobs/{id}/files/{name...}",
       .summary = "A file of a job; what it makes for people is below out/.",
       .parameters = {id,
                      {.name = "name", .place = "path", .help = "The name of the file"},
                      {.name = "Range", .place = "header", .help = "Some of its bytes alone: \"bytes=100-\""},
                      {.name = "If-Range",
                       .place = "header",
                       .help = "The ETag of the file of which the peer has a part"},
                      {.name = "If-None-Match",
                       .place = "header",
                       .help = "The ETag of what is there already"}},
       .answers = {{.help = "The file",
                    .type = "application/octet-stream",
                    .headers = {{"ETag", "The file's SHA-256"},
                                {"Repr-Digest", "The same, as RFC 9530 has it"}}},
                   {.status = 304, .help = "The peer has it"},
                   {.status = 206,
                    .help = "Some of its bytes",
                    .type = "application/octet-stream",
                    .headers = {{"Content-Range", "Which bytes, and of how many"}}}},
       .problems = {404, 416},
       .handler = [&desk](const RestCall& call) { return File(desk, call); }});
  api.operations.push_back(
      {.id = "getJobTrace",
       .method = "GET",
       .path = "/v1/jobs/{id}/trace",
       .summary =
           "The job's spans in OTLP/JSON, for tools that show traces: its stages, and what it waited for.",
       .parameters = {id},
       .answers = {{.help = "The trace", .schema = {{"type", "object"}}}},
       .problems = {404},
       .handler = [&desk](const RestCall& call) { return Trace(desk, call); }});
  api.operations.push_back(
      {.id = "followJob",
       .method = "GET",
       .path = "/v1/jobs/{id}/events",
       .summary =
           "Server-sent events: the job, as in its list, at once and whenever it changes, until it is over.",
       .parameters =
           {id, {.name = "Last-Event-ID", .place = "header", .help = "The id of the last event that came"}},
       .answers = {{.help = "Events", .type = "text/event-stream"},
                   {.status = 204, .help = "The job is over, and nothing has changed"}},
       .problems = {404},
       .handler = [&events](const RestCall& call) { return Events(events, call); }});
  api.operations.push_back(
      {.id = "followJobs",
       .method = "GET",
       .path = "/v1/events",
       .summary =
           "Server-sent events: each of the tenant's jobs, as in their list, once it is new or has changed.",
       .answers = {{.help = "Events, without an end", .type = "text/event-stream"}},
       .handler = [&events](const RestCall& call) -> absl::StatusOr<HttpResponse> {
         ASSIGN_OR_RETURN(auto stream, events.FollowAll(call.caller.tenant));
         return HttpResponse{.events = std::move(stream)};
       }});
}

}  // namespace attune
