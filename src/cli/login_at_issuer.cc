#include "cli/login_at_issuer.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "base/printable.h"
#include "base/status.h"
#include "cli/common/output.h"
#include "cli/common/stops_on_signal.h"
#include "http/oidc/device_login.h"
#include "http/oidc/http_oidc_fetcher.h"
#include "http/oidc/issuer_endpoints.h"
#include "http/oidc/jwt.h"
#include "nlohmann/json.hpp"
#include "service/client/rest_client.h"

namespace attune {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kSoonMs = 60'000;

std::string TextOf(const Json& json, const char* name) {
  return json.contains(name) && json[name].is_string() ? json[name].get<std::string>() : "";
}

absl::StatusOr<DeviceClient> ClientOf(const KnownServer& server, const std::string& name) {
  ASSIGN_OR_RETURN(const auto rest, RestClient::Open({.url = server.url, .trust = server.trust}));
  ASSIGN_OR_RETURN(const Json session, rest->Ask({.target = "/v1/session"}));
  const Json logins = session.value("logins", Json::array());
  if (!logins.is_array() || logins.empty())
    return absl::FailedPreconditionError(absl::StrCat(
        "no token for ", server.url, " is known, and it trusts no identity provider; attune login ",
        server.url, " --token saves a token"));
  const auto found = std::ranges::find_if(
      logins, [&](const Json& login) { return name.empty() || TextOf(login, "name") == name; });
  if (found == logins.end()) return InvalidInput(server.url, " has no login \"", Printable(name), "\"");
  DeviceClient client = {.issuer = TextOf(*found, "issuer"),
                         .client_id = TextOf(*found, "client_id"),
                         .scope = TextOf(*found, "scope")};
  if (!IsSafeUrl(client.issuer))
    return InvalidInput(server.url, ": its issuer \"", Printable(client.issuer),
                        "\" is neither https:// nor on this machine");
  return client;
}

void Take(const IssuedTokens& tokens, KnownServer& server) {
  server.token = tokens.token;
  server.login.refresh_token = tokens.refresh_token;
}

bool EndsWithin(const std::string& token, int64_t ms) {
  const auto jwt = ParseJwt(token);
  return !jwt.ok() || TimeClaim(jwt->claims, "exp") <= SystemClock().WallMillis() + ms;
}

// Empty if the issuer is away, and the token counts until it is back.
absl::StatusOr<IssuedTokens> NewTokens(const KnownServer& server) {
  const KnownLogin& login = server.login;
  const std::string again = absl::StrCat("log in again: attune login ", server.url);
  if (login.refresh_token.empty())
    return absl::UnauthenticatedError(
        absl::StrCat("the login at ", login.issuer, " for ", server.url, " has ended; ", again));
  HttpOidcFetcher fetcher;
  absl::StatusOr<IssuedTokens> tokens =
      RefreshTokens({.issuer = login.issuer, .client_id = login.client_id}, login.refresh_token, fetcher);
  if (absl::IsUnauthenticated(tokens.status()))
    return absl::UnauthenticatedError(absl::StrCat(tokens.status().message(), "; ", again));
  if (absl::IsUnavailable(tokens.status()) && !EndsWithin(server.token, 0)) return IssuedTokens();
  return tokens;
}

}  // namespace

absl::StatusOr<KnownServer> LogInAtIssuer(KnownServer server, const std::string& name) {
  ASSIGN_OR_RETURN(const DeviceClient client, ClientOf(server, name));
  Cancellation cancellation;
  const StopsOnSignal stops([](void* stopped) { static_cast<Cancellation*>(stopped)->Cancel(); },
                            &cancellation, "\n");
  HttpOidcFetcher fetcher("", &cancellation);
  const DeviceLoginSteps steps = {
      .show =
          [](const std::string& url, const std::string& code) {
            PrintNote(absl::StrCat("log in at ", url));
            PrintNote(absl::StrCat("make sure that it shows the code ", code));
          },
      .wait =
          [&](double seconds) {
            constexpr double kLook = 0.1;
            for (double waited = 0; waited < seconds && !cancellation.is_cancelled(); waited += kLook)
              std::this_thread::sleep_for(std::chrono::duration<double>(kLook));
            return !cancellation.is_cancelled();
          }};
  ASSIGN_OR_RETURN(const IssuedTokens tokens, LogInByDevice(client, steps, fetcher));
  server.login = {.issuer = client.issuer, .client_id = client.client_id, .scope = client.scope};
  Take(tokens, server);
  return server;
}

absl::StatusOr<KnownServer> Renewed(KnownServer server, bool is_refused) {
  if (server.login.issuer.empty() || (!is_refused && !EndsWithin(server.token, kSoonMs))) return server;
  ASSIGN_OR_RETURN(const std::string path, KnownServers::DefaultPath(std::getenv));
  // An issuer may take a refresh token once, so that others wait and find what comes of it.
  ASSIGN_OR_RETURN(KnownServers servers, KnownServers::LoadToChange(path));
  const std::optional<KnownServer> kept = servers.Find(server.url);
  if (kept && kept->token != server.token && !EndsWithin(kept->token, kSoonMs)) return *kept;
  if (kept) server.login = kept->login;
  ASSIGN_OR_RETURN(const IssuedTokens tokens, NewTokens(server));
  if (tokens.token.empty()) return server;
  Take(tokens, server);
  servers.Update(server);
  RETURN_IF_ERROR(servers.Save());
  return server;
}

}  // namespace attune
