#include "http/oidc/device_login.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/json_object.h"
#include "base/printable.h"
#include "base/status.h"
#include "http/oidc/issuer_endpoints.h"
#include "http/oidc/jwt.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr int kOk = 200;
constexpr double kUsualInterval = 5, kSlowDown = 5, kLeastInterval = 0.1, kMostInterval = 60;
constexpr double kMostSeconds = 3600;

double NumberOf(const Json& json, const char* name, double otherwise) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number() ? found->get<double>() : otherwise;
}

absl::StatusOr<Json> JsonOf(const DeviceClient& client, const OidcReply& reply) {
  auto json = ParseJsonObject<Json>(reply.body);
  if (json.ok()) return json;
  const std::string message =
      absl::StrCat("issuer ", client.issuer, " answers ", reply.status, " without JSON");
  return reply.status >= 500 ? absl::UnavailableError(message) : absl::FailedPreconditionError(message);
}

absl::Status Refused(const DeviceClient& client, const Json& json) {
  const std::string why = TextClaim(json, "error_description"), error = TextClaim(json, "error");
  return absl::UnauthenticatedError(
      absl::StrCat("issuer ", client.issuer, " refuses: ", Printable(why.empty() ? error : why)));
}

absl::StatusOr<IssuedTokens> TokensOf(const DeviceClient& client, const Json& json) {
  IssuedTokens tokens = {.token = TextClaim(json, "id_token"),
                         .refresh_token = TextClaim(json, "refresh_token")};
  if (!tokens.token.empty()) return tokens;
  return absl::FailedPreconditionError(
      absl::StrCat("issuer ", client.issuer, " gives no ID token; is the scope openid missing?"));
}

// The code that the person enters, and where.
struct DeviceCode {
  std::string code, user_code, url;
  double interval = kUsualInterval, seconds = 0;
};

absl::StatusOr<DeviceCode> AskForCode(const DeviceClient& client, const std::string& endpoint,
                                      OidcFetcher& fetcher) {
  ASSIGN_OR_RETURN(const OidcReply reply,
                   fetcher.Post(endpoint, {{"client_id", client.client_id}, {"scope", client.scope}}, ""));
  ASSIGN_OR_RETURN(const Json json, JsonOf(client, reply));
  if (reply.status != kOk) return Refused(client, json);
  DeviceCode code = {
      .code = TextClaim(json, "device_code"),
      .user_code = TextClaim(json, "user_code"),
      .url = TextClaim(json, "verification_uri_complete"),
      .interval = std::clamp(NumberOf(json, "interval", kUsualInterval), kLeastInterval, kMostInterval),
      .seconds = std::min(NumberOf(json, "expires_in", 0), kMostSeconds)};
  if (code.url.empty()) code.url = TextClaim(json, "verification_uri");
  if (code.code.empty() || code.user_code.empty() || code.url.empty())
    return absl::FailedPreconditionError(
        absl::StrCat("issuer ", client.issuer, " gives no code to log in by"));
  return code;
}

}  // namespace

absl::StatusOr<IssuedTokens> LogInByDevice(const DeviceClient& client, const DeviceLoginSteps& steps,
                                           OidcFetcher& fetcher) {
  ASSIGN_OR_RETURN(const IssuerEndpoints endpoints, DiscoverIssuer(client.issuer, fetcher));
  if (endpoints.device.empty())
    return absl::FailedPreconditionError(absl::StrCat(
        "issuer ", client.issuer, " has no logins by device code; use a token (attune login --token)"));
  ASSIGN_OR_RETURN(DeviceCode code, AskForCode(client, endpoints.device, fetcher));
  // The texts come from elsewhere.
  steps.show(Printable(code.url), Printable(code.user_code));
  for (double waited = 0; waited < code.seconds; waited += code.interval) {
    if (!steps.wait(code.interval)) return absl::CancelledError("the login was given up");
    const auto reply = fetcher.Post(endpoints.token,
                                    {{"grant_type", "urn:ietf:params:oauth:grant-type:device_code"},
                                     {"device_code", code.code},
                                     {"client_id", client.client_id}},
                                    "");
    const auto json = reply.ok() ? JsonOf(client, *reply) : absl::StatusOr<Json>(reply.status());
    if (absl::IsUnavailable(json.status())) continue;
    RETURN_IF_ERROR(json.status());
    if (reply->status == kOk) return TokensOf(client, *json);
    const std::string error = TextClaim(*json, "error");
    if (error == "slow_down") code.interval += kSlowDown;
    if (error != "slow_down" && error != "authorization_pending") return Refused(client, *json);
  }
  return absl::DeadlineExceededError("the code was not entered in time; log in again");
}

absl::StatusOr<IssuedTokens> RefreshTokens(const DeviceClient& client, const std::string& refresh_token,
                                           OidcFetcher& fetcher) {
  ASSIGN_OR_RETURN(const IssuerEndpoints endpoints, DiscoverIssuer(client.issuer, fetcher));
  ASSIGN_OR_RETURN(const OidcReply reply, fetcher.Post(endpoints.token,
                                                       {{"grant_type", "refresh_token"},
                                                        {"refresh_token", refresh_token},
                                                        {"client_id", client.client_id}},
                                                       ""));
  ASSIGN_OR_RETURN(const Json json, JsonOf(client, reply));
  if (reply.status >= 500)
    return absl::UnavailableError(absl::StrCat("issuer ", client.issuer, " cannot answer now; try again"));
  if (reply.status != kOk) return Refused(client, json);
  ASSIGN_OR_RETURN(IssuedTokens tokens, TokensOf(client, json));
  // An issuer may keep the one that there is.
  if (tokens.refresh_token.empty()) tokens.refresh_token = refresh_token;
  return tokens;
}

}  // namespace attune
