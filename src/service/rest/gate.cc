#include "service/rest/gate.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/log.h"
#include "base/log_scope.h"
#include "base/printable.h"
#include "base/status.h"
#include "http/file_response.h"
#include "http/problem.h"
#include "service/access/problems.h"
#include "service/rest/trace.h"
#include "work/report/schedule_json.h"

namespace attune {
namespace {

using Json = nlohmann::json;

std::optional<HttpResponse> CheckRole(const RestOperation& operation, const AccessToken& caller) {
  if (caller.role >= *operation.role) return std::nullopt;
  return Problem(403, absl::StrCat("this needs the role ", Name(*operation.role), ", and the token has ",
                                   Name(caller.role)));
}

// The parameter's text as the value that its schema wants. A text that is none stays one, which the schema
// then refuses.
Json ValueOf(const std::string& text, const JsonSchema& schema) {
  int64_t number = 0;
  if (schema.value("type", "") == "integer" && absl::SimpleAtoi(text, &number)) return number;
  return text;
}

std::optional<std::string> GivenText(const RestParameter& parameter, const HttpRequest& request) {
  const bool is_header = parameter.place == "header";
  const auto& texts = is_header                    ? request.headers
                      : parameter.place == "query" ? request.query
                                                   : request.parts;
  const auto found = texts.find(is_header ? absl::AsciiStrToLower(parameter.name) : parameter.name);
  if (found == texts.end()) return std::nullopt;
  return found->second;
}

absl::Status ReadParameters(const RestOperation& operation, const JsonSchema& schemas, RestCall& call) {
  for (const RestParameter& parameter : operation.parameters) {
    const std::optional<std::string> text = GivenText(parameter, call.request);
    if (!text && parameter.is_required) return InvalidInput(parameter.name, ": is missing");
    if (!text) continue;
    Json value = ValueOf(*text, parameter.schema);
    RETURN_IF_ERROR(CheckJson(value, parameter.schema, schemas, parameter.name));
    call.parameters[parameter.name] = std::move(value);
  }
  for (const auto& [name, text] : call.request.query) {
    const bool is_known = std::ranges::any_of(operation.parameters, [&](const RestParameter& parameter) {
      return parameter.place == "query" && parameter.name == name;
    });
    if (!is_known) return InvalidInput(Printable(name), ": is not a parameter of this operation");
  }
  return absl::OkStatus();
}

// Reads a body in JSON. Returns the problem, if there is one.
std::optional<HttpResponse> ReadBody(const RestOperation& operation, const JsonSchema& schemas,
                                     RestCall& call) {
  const std::string wanted = operation.body.is_null() ? operation.body_type : kJsonType;
  if (wanted.empty()) return std::nullopt;
  const std::pair<std::string_view, std::string_view> type =
      absl::StrSplit(call.request.Header("content-type"), absl::MaxSplits(';', 1));
  if (!absl::EqualsIgnoreCase(absl::StripAsciiWhitespace(type.first), wanted))
    return Problem(415, absl::StrCat("the body must be ", wanted, "; say so in Content-Type"));
  if (operation.body.is_null()) return std::nullopt;
  absl::StatusOr<Json> body = ParseJson(call.request.body);
  if (!body.ok()) return Problem(400, body.status().message());
  if (const absl::Status fault = CheckJson(*body, operation.body, schemas); !fault.ok())
    return Problem(400, fault.message());
  call.body = *std::move(body);
  return std::nullopt;
}

HttpResponse WithETag(const HttpRequest& request, HttpResponse response) {
  constexpr size_t kDigits = 32;
  const std::string tag = absl::StrCat("\"", Sha256Hex(response.body).substr(0, kDigits), "\"");
  response.headers["ETag"] = tag;
  response.headers.try_emplace("Cache-Control", "private, no-cache");
  if (!IsTagAmong(request.Header("if-none-match"), tag)) return response;
  return {.status = 304, .content_type = kJsonType, .headers = std::move(response.headers)};
}

}  // namespace

void RequestMetrics::Count(const std::string& operation, int status, double seconds) {
  constexpr int kHundred = 100;
  const auto of_class = static_cast<size_t>(std::clamp<int>(status / kHundred, 1, kClasses)) - 1;
  const auto bucket = std::distance(kBounds.begin(), std::ranges::lower_bound(kBounds, seconds));
  const std::lock_guard<std::mutex> lock(mutex_);
  Counts& counts = counts_[operation];
  ++counts.by_class[of_class];
  ++counts.by_seconds[static_cast<size_t>(bucket)];
  counts.seconds += seconds;
}

void RequestMetrics::AddTo(MetricsText& text) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  text.Begin("attune_http_requests_total", "counter",
             "Requests that were answered, by operation and status.");
  for (const auto& [operation, counts] : counts_) {
    for (size_t i = 0; i < kClasses; ++i) {
      if (counts.by_class[i] == 0) continue;
      text.Add(static_cast<double>(counts.by_class[i]),
               {{"operation", operation}, {"status", absl::StrCat(i + 1, "xx")}});
    }
  }
  text.Begin("attune_http_request_seconds", "histogram", "Seconds until requests were answered.");
  for (const auto& [operation, counts] : counts_)
    text.AddHistogram(kBounds, counts.by_seconds, counts.seconds, {{"operation", operation}});
}

std::variant<AccessToken, HttpResponse> Gate::LetIn(const RestOperation& operation,
                                                    const HttpRequest& request) {
  constexpr int kUnauthorized = 401;
  if (is_draining_ && request.method != "GET" && request.method != "HEAD")
    return ServiceProblem(absl::UnavailableError("the server is ending; try again later"));
  std::variant<AccessToken, HttpResponse> caller = AccessToken();
  if (operation.role) caller = callers_.Identify(request);
  const auto* problem = std::get_if<HttpResponse>(&caller);
  // A caller with a token is not held up by others at the same address.
  const bool is_stranger = !operation.role || (problem != nullptr && problem->status == kUnauthorized);
  if (is_stranger) {
    if (const double wait = strangers_.Admit(request.peer); wait > 0)
      return TooManyProblem(wait,
                            "this address sends too many requests without a token; wait as Retry-After says");
  }
  return caller;
}

std::optional<HttpResponse> Gate::Refusal(const RestOperation& operation, const HttpRequest& request) {
  auto caller = LetIn(operation, request);
  std::optional<HttpResponse> refusal;
  if (auto* problem = std::get_if<HttpResponse>(&caller))
    refusal = std::move(*problem);
  else if (operation.role)
    refusal = CheckRole(operation, std::get<AccessToken>(caller));
  if (refusal.has_value()) metrics_.Count(operation.id, refusal->status, 0);
  return refusal;
}

HttpResponse Gate::Answer(const RestOperation& operation, const JsonSchema& schemas,
                          const HttpRequest& request) {
  const absl::StatusOr<RequestTrace> trace = TraceOf(request.Header("traceparent"));
  if (!trace.ok()) return ServiceProblem(trace.status());
  const LogScope scope("trace", trace->trace);
  const Stopwatch watch;
  HttpResponse response = Decide(operation, schemas, request);
  HidePaths(response);
  const double seconds = watch.Seconds();
  metrics_.Count(operation.id, response.status, seconds);
  Log(LogLevel::kDebug, "request", "operation", operation.id, "status", response.status, "seconds", seconds,
      "peer", request.peer);
  response.headers["traceparent"] = trace->Parent();
  return response;
}

void Gate::HidePaths(HttpResponse& response) const {
  constexpr int kFirstProblem = 400;
  const std::string path = absl::StrCat(folder_, "/");
  if (folder_.empty() || response.status < kFirstProblem || !absl::StrContains(response.body, path)) return;
  Log(LogLevel::kWarning, "a problem names a file of the server", "problem", response.body);
  response.body = absl::StrReplaceAll(response.body, {{path, ""}});
}

HttpResponse Gate::Decide(const RestOperation& operation, const JsonSchema& schemas,
                          const HttpRequest& request) {
  RestCall call = {.request = request};
  auto caller = LetIn(operation, request);
  if (auto* problem = std::get_if<HttpResponse>(&caller)) return std::move(*problem);
  call.caller = std::get<AccessToken>(std::move(caller));
  if (operation.role) {
    if (const double wait = limit_.Admit(call.caller.id); wait > 0)
      return TooManyProblem(wait, "this token sends too many requests; wait as Retry-After says");
    if (std::optional<HttpResponse> problem = tenants_.Refusal(call.caller.tenant))
      return *std::move(problem);
    if (std::optional<HttpResponse> problem = CheckRole(operation, call.caller)) return *std::move(problem);
  }
  if (const absl::Status fault = ReadParameters(operation, schemas, call); !fault.ok())
    return Problem(400, fault.message());
  if (std::optional<HttpResponse> problem = ReadBody(operation, schemas, call)) return *std::move(problem);
  absl::StatusOr<HttpResponse> response = Handle(operation, call);
  if (!response.ok()) return ServiceProblem(response.status());
  if (response->events != nullptr) {
    if (auto problem = streams_.Admit(request, call.caller, *operation.role, response->events))
      return *std::move(problem);
  }
  return operation.HasTag() && response->status == 200 ? WithETag(request, *std::move(response))
                                                       : *std::move(response);
}

absl::StatusOr<HttpResponse> Gate::Handle(const RestOperation& operation, const RestCall& call) {
  if (!operation.IsRecorded()) return operation.handler(call);
  AuditEntry entry = {.tenant = call.caller.tenant,
                      .actor = call.caller.id,
                      .actor_name = call.caller.name,
                      .operation = operation.id,
                      .subject = call.request.path,
                      .result = "begun"};
  ASSIGN_OR_RETURN(entry.request, NewId());
  if (const absl::Status announced = audit_.Announce(entry); !announced.ok())
    return absl::UnavailableError(
        "nothing can be changed now, since the audit log cannot be written; try again");
  absl::StatusOr<HttpResponse> response = operation.handler(call);
  if (!response.ok()) response = ServiceProblem(response.status());
  entry.result = absl::StrCat(response->status);
  response->headers["X-Request-Id"] = entry.request;
  audit_.Add(std::move(entry));
  return response;
}

HttpRouter RouterOf(const RestApi& api, Gate& gate) {
  HttpRouter router;
  for (const RestOperation& operation : api.operations) {
    router.Add(
        {.method = operation.route.method,
         .path = operation.route.path,
         .handler = [&operation, &api, &gate](
                        const HttpRequest& request) { return gate.Answer(operation, api.schemas, request); },
         .most_body_bytes = operation.most_body_bytes,
         .refusal = [&operation,
                     &gate](const HttpRequest& request) { return gate.Refusal(operation, request); }});
  }
  return router;
}

}  // namespace attune
