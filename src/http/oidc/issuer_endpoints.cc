#include "http/oidc/issuer_endpoints.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/json_object.h"
#include "base/status.h"
#include "http/oidc/jwt.h"
#include "nlohmann/json.hpp"

namespace attune {

bool IsSafeUrl(std::string_view url) {
  if (url.starts_with("https://")) return true;
  return url.starts_with("http://127.0.0.1:") || url.starts_with("http://[::1]:") ||
         url.starts_with("http://localhost:");
}

absl::StatusOr<std::string> GetText(const std::string& url, OidcFetcher& fetcher) {
  constexpr int kOk = 200;
  ASSIGN_OR_RETURN(OidcReply reply, fetcher.Get(url));
  if (reply.status != kOk) return absl::UnavailableError(absl::StrCat(url, ": answers ", reply.status));
  return std::move(reply.body);
}

absl::StatusOr<IssuerEndpoints> DiscoverIssuer(const std::string& issuer, OidcFetcher& fetcher) {
  const std::string url = absl::StrCat(absl::StripSuffix(issuer, "/"), "/.well-known/openid-configuration");
  ASSIGN_OR_RETURN(const std::string text, GetText(url, fetcher));
  const auto json = ParseJsonObject<nlohmann::json>(text);
  if (!json.ok()) return Annotate(json.status(), url);
  if (TextClaim(*json, "issuer") != issuer)
    return InvalidInput(url, ": is of the issuer \"", TextClaim(*json, "issuer"), "\", not of ", issuer);
  IssuerEndpoints endpoints = {.authorization = TextClaim(*json, "authorization_endpoint"),
                               .token = TextClaim(*json, "token_endpoint"),
                               .keys = TextClaim(*json, "jwks_uri"),
                               .device = TextClaim(*json, "device_authorization_endpoint")};
  for (const std::string& endpoint : {endpoints.authorization, endpoints.token, endpoints.keys})
    if (!IsSafeUrl(endpoint)) return InvalidInput(url, ": has an endpoint \"", endpoint, "\" without TLS");
  if (!IsSafeUrl(endpoints.device)) endpoints.device.clear();
  return endpoints;
}

}  // namespace attune
