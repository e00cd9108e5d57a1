#include "service/client/rest_client.h"

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/insist.h"
#include "base/json_object.h"
#include "base/status.h"
#include "http/client/followed_events.h"

namespace attune {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostDetailBytes = 2000;
// An Unavailable error carries the seconds that the server asks for under this name.
constexpr char kRetryAfter[] = "attune/retry-after";
// An error that is the server's answer of a status 4xx has this.
constexpr char kRefused[] = "attune/refused";

absl::StatusCode CodeOf(int status) {
  switch (status) {
    case 400:
    case 415:
      return absl::StatusCode::kInvalidArgument;
    case 401:
      return absl::StatusCode::kUnauthenticated;
    case 403:
      return absl::StatusCode::kPermissionDenied;
    case 404:
    case 405:
      return absl::StatusCode::kNotFound;
    case 409:
      return absl::StatusCode::kAborted;
    case 413:
      return absl::StatusCode::kOutOfRange;
    case 422:
      return absl::StatusCode::kFailedPrecondition;
    case 501:
      return absl::StatusCode::kUnimplemented;
    default:
      return absl::StatusCode::kInternal;
  }
}

// The sentence of a problem (RFC 9457); empty: it is none.
std::string DetailOf(const HttpAnswer& answer) {
  if (!answer.Header("content-type").starts_with("application/problem+json")) return "";
  const absl::StatusOr<Json> problem = ParseJsonObject<Json>(answer.body);
  if (!problem.ok() || !problem->contains("detail") || !(*problem)["detail"].is_string()) return "";
  return (*problem)["detail"].get<std::string>().substr(0, kMostDetailBytes);
}

double SecondsAsked(const absl::Status& status) {
  const auto asked = status.GetPayload(kRetryAfter);
  double seconds = 0;
  return asked && absl::SimpleAtod(std::string(*asked), &seconds) ? seconds : 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<RestClient>> RestClient::Open(const KnownServer& server,
                                                             const RestClientOptions& options) {
  ASSIGN_OR_RETURN(const std::string url, ServerUrl(server.url));
  ASSIGN_OR_RETURN(std::unique_ptr<HttpClient> http,
                   HttpClient::Open(url, {.trust = server.trust, .cancellation = options.cancellation}));
  return std::unique_ptr<RestClient>(new RestClient(std::move(http), server.token, options));
}

absl::Status RestClient::ErrorOf(const HttpAnswer& answer) const {
  const std::string detail = DetailOf(answer);
  const std::string origin = http_->url().Origin();
  if (IsPassing(answer)) {
    absl::Status busy = absl::UnavailableError(absl::StrCat(
        origin, ": ", detail.empty() ? absl::StrCat("answers with status ", answer.status) : detail));
    if (const double seconds = RetryAfter(answer); seconds > 0)
      busy.SetPayload(kRetryAfter, absl::Cord(absl::string_view(absl::StrCat(seconds))));
    return busy;
  }
  absl::Status error(CodeOf(answer.status), detail);
  if (answer.status == 401)
    error = absl::UnauthenticatedError(absl::StrCat(origin, ": ", detail, " (attune login keeps a token)"));
  else if (detail.empty())
    error = absl::Status(CodeOf(answer.status), absl::StrCat(origin, ": answers with status ", answer.status,
                                                             "; is it attune server --http?"));
  if (answer.status / 100 == 4) error.SetPayload(kRefused, absl::Cord());
  return error;
}

bool RestClient::IsRefusal(const absl::Status& error) { return error.GetPayload(kRefused).has_value(); }

std::string RestClient::Token() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return token_;
}

absl::StatusOr<std::string> RestClient::TokenAfter(const std::string& refused) const {
  const std::lock_guard<std::mutex> renewing(renewing_);
  // Another process may have done it meanwhile.
  if (std::string token = Token(); token != refused) return token;
  ASSIGN_OR_RETURN(std::string token, options_.renew_token(refused));
  const std::lock_guard<std::mutex> lock(mutex_);
  token_ = token;
  return token;
}

absl::StatusOr<HttpAnswer> RestClient::WithToken(
    HttpCall call, const std::function<absl::StatusOr<HttpAnswer>(const HttpCall& call)>& make) const {
  const std::string token = Token();
  call.headers["Authorization"] = absl::StrCat("Bearer ", token);
  call.headers.try_emplace("Accept", "application/json");
  if (!call.body.empty()) call.headers.try_emplace("Content-Type", "application/json");
  absl::StatusOr<HttpAnswer> answer = make(call);
  constexpr int kUnauthorized = 401;
  if (!answer.ok() || answer->status != kUnauthorized || !options_.renew_token) return answer;
  ASSIGN_OR_RETURN(const std::string other, TokenAfter(token));
  call.headers["Authorization"] = absl::StrCat("Bearer ", other);
  return make(call);
}

absl::StatusOr<HttpAnswer> RestClient::Send(HttpCall call) const {
  ASSIGN_OR_RETURN(HttpAnswer answer,
                   WithToken(std::move(call), [this](const HttpCall& made) { return http_->Send(made); }));
  if (answer.status / 100 != 2) return ErrorOf(answer);
  return answer;
}

absl::StatusOr<Json> RestClient::AskOnce(HttpCall call) const {
  ASSIGN_OR_RETURN(const HttpAnswer answer, Send(std::move(call)));
  absl::StatusOr<Json> json = ParseJsonObject<Json>(answer.body);
  if (json.ok()) return json;
  return absl::FailedPreconditionError(absl::StrCat(http_->url().Origin(), ": answers without JSON"));
}

absl::StatusOr<Json> RestClient::Ask(HttpCall call) const {
  absl::StatusOr<Json> json;
  const auto attempt = [&] {
    json = AskOnce(call);
    return json.status();
  };
  RETURN_IF_ERROR(Insist(/*position=*/0, attempt));
  return json;
}

absl::Status RestClient::Insist(const int64_t& position, const std::function<absl::Status()>& attempt) const {
  return attune::Insist(position, attempt,
                        {.tries = options_.tries,
                         .is_cancelled = [this] { return http_->is_cancelled(); },
                         .on_away = options_.on_away,
                         .seconds_asked = SecondsAsked});
}

absl::Status RestClient::Follow(
    HttpCall call, const std::function<absl::StatusOr<bool>(const ServerEvent& event)>& handle) const {
  ASSIGN_OR_RETURN(const HttpAnswer last, WithToken(std::move(call), [&](const HttpCall& made) {
                     return FollowEvents(*http_, made, handle, {.on_away = options_.on_away});
                   }));
  return last.status / 100 == 2 ? absl::OkStatus() : ErrorOf(last);
}

}  // namespace attune
