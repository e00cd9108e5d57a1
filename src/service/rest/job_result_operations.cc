// What a job makes: its files, and events while it goes on.
#include <memory>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "base/status.h"
#include "http/file_response.h"
#include "service/rest/operations.h"
#include "service/rest/trace.h"

namespace attune {
namespace {

absl::StatusOr<HttpResponse> File(JobDesk& desk, const RestCall& call) {
  ASSIGN_OR_RETURN(auto blob,
                   desk.OpenFile({.id = call.Text("id"), .owner = call.caller.tenant}, call.Text("name")));
  // A browser is to keep what strangers have made, and not to show it.
  return FileResponse(
      call.request, {std::make_shared<FileDescriptor>(std::move(blob.first)), blob.second},
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
  api.operations.push_back({.id = "getJobFile",
                            .method = "GET",
                            .path = "/v1/jobs/{id}/files/{name...}",
                            .summary = "A file of a job; what it makes for people is below out/.",
                            .parameters = {id,
                                           {.name = "name", .place = "path", .help = "The name of the file"},
                                           {.name = "Range",
                                            .place = "header",
                                            .help = "Some of its bytes alone: \"bytes=100-\""}},
                            .answers = {{.help = "The file", .type = "application/octet-stream"},
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
