#include "service/identity/oidc_logins.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/json_object.h"
#include "base/printable.h"
#include "base/status.h"
#include "http/client/url.h"
#include "http/oidc/jwt.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr int kOk = 200;

absl::Status Refused(std::string_view why) { return absl::UnauthenticatedError(why); }

// The values that follow from one secret: they are independent, and none of them reveals it.
std::string Derived(std::string_view secret, std::string_view what) {
  return Sha256Hex(absl::StrCat(what, "\n", secret));
}
std::string VerifierOf(std::string_view secret) { return Derived(secret, "verifier"); }
std::string NonceOf(std::string_view secret) { return Derived(secret, "nonce"); }
std::string StateOf(std::string_view secret, const std::string& issuer) {
  return absl::StrCat(issuer, "/", Derived(secret, absl::StrCat("state of ", issuer)));
}

// https://www.rfc-editor.org/rfc/rfc7636#section-4.2
std::string ChallengeOf(const std::string& verifier) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  SHA256(reinterpret_cast<const unsigned char*>(verifier.data()), verifier.size(),
         reinterpret_cast<unsigned char*>(digest.data()));
  return absl::WebSafeBase64Escape(digest);
}

bool IsSame(std::string_view one, std::string_view other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace

OidcLogins::OidcLogins(OidcIssuers issuers, OidcFetcher& fetcher, const Clock& clock,
                       const IssuerKeysTiming& timing)
    : issuers_(std::move(issuers)), fetcher_(fetcher), clock_(clock) {
  for (const OidcIssuer& issuer : issuers_.issuers)
    providers_.push_back(std::unique_ptr<Provider>(
        new Provider{.issuer = issuer, .keys = IssuerKeys(issuer, fetcher, clock, timing)}));
}

absl::Status OidcLogins::Begin() {
  for (const auto& provider : providers_) RETURN_IF_ERROR(provider->keys.Begin());
  return absl::OkStatus();
}

OidcLogins::Provider* OidcLogins::Named(std::string_view name) {
  for (const auto& provider : providers_)
    if (provider->issuer.name == name) return provider.get();
  return nullptr;
}

absl::StatusOr<VouchedPerson> OidcLogins::Vouched(Provider& provider, std::string_view token,
                                                  JwtExpectations expected) {
  ASSIGN_OR_RETURN(const UnverifiedJwt jwt, ParseJwt(token));
  expected.issuer = provider.issuer.issuer;
  expected.skew_ms = provider.issuer.skew_ms;
  // The cheap checks come first, so that an old token causes no request for keys.
  RETURN_IF_ERROR(CheckClaims(jwt.claims, expected, clock_.WallMillis()));
  RETURN_IF_ERROR(provider.keys.Verify(jwt));
  VouchedPerson vouched = {.issued_ms = TimeClaim(jwt.claims, "iat"),
                           .expires_ms = TimeClaim(jwt.claims, "exp")};
  ASSIGN_OR_RETURN(vouched.person, PersonOfClaims(provider.issuer, jwt.claims));
  return vouched;
}

absl::StatusOr<VouchedPerson> OidcLogins::Identify(std::string_view token) {
  ASSIGN_OR_RETURN(const UnverifiedJwt jwt, ParseJwt(token));
  const std::string issuer = TextClaim(jwt.claims, "iss");
  for (const auto& provider : providers_)
    if (provider->issuer.issuer == issuer)
      return Vouched(*provider, token, {.audiences = provider->issuer.audiences});
  return Refused("the token is of an issuer that this server does not trust");
}

std::string OidcLogins::RedirectUrl() const { return absl::StrCat(issuers_.url, "/v1/login/callback"); }

absl::StatusOr<std::string> OidcLogins::BeginLogin(const std::string& issuer, std::string_view secret) {
  Provider* provider = Named(issuer);
  if (provider == nullptr)
    return absl::NotFoundError(absl::StrCat("there is no login \"", Printable(issuer), "\""));
  ASSIGN_OR_RETURN(const IssuerEndpoints endpoints, provider->keys.Endpoints());
  const OidcForm query = {{"response_type", "code"},
                          {"client_id", provider->issuer.client_id},
                          {"redirect_uri", RedirectUrl()},
                          {"scope", provider->issuer.scope},
                          {"state", StateOf(secret, issuer)},
                          {"nonce", NonceOf(secret)},
                          {"code_challenge", ChallengeOf(VerifierOf(secret))},
                          {"code_challenge_method", "S256"}};
  std::string url = endpoints.authorization;
  char separator = url.find('?') == std::string::npos ? '?' : '&';
  for (const auto& [name, value] : query) {
    absl::StrAppend(&url, std::string(1, separator), name, "=", EncodePercent(value));
    separator = '&';
  }
  return url;
}

absl::StatusOr<VouchedPerson> OidcLogins::FinishLogin(const Callback& callback, std::string_view secret) {
  const std::pair<std::string, std::string> state = absl::StrSplit(callback.state, absl::MaxSplits('/', 1));
  Provider* provider = Named(state.first);
  if (provider == nullptr || !IsSame(callback.state, StateOf(secret, state.first)))
    return Refused("this login was started in another browser, or too long ago; log in again");
  if (!callback.issuer.empty() && callback.issuer != provider->issuer.issuer)
    return Refused("another issuer answered this login; log in again");
  ASSIGN_OR_RETURN(const std::string token, Redeem(*provider, callback.code, VerifierOf(secret)));
  return Vouched(*provider, token, {.audiences = {provider->issuer.client_id}, .nonce = NonceOf(secret)});
}

absl::StatusOr<std::string> OidcLogins::Redeem(Provider& provider, const std::string& code,
                                               const std::string& verifier) {
  const OidcIssuer& issuer = provider.issuer;
  ASSIGN_OR_RETURN(const IssuerEndpoints endpoints, provider.keys.Endpoints());
  OidcForm form = {{"grant_type", "authorization_code"},
                   {"code", code},
                   {"redirect_uri", RedirectUrl()},
                   {"code_verifier", verifier}};
  std::string authorization;
  if (issuer.client_secret.empty()) {
    form.emplace_back("client_id", issuer.client_id);
  } else {
    // https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1
    authorization =
        absl::StrCat("Basic ", absl::Base64Escape(absl::StrCat(EncodePercent(issuer.client_id), ":",
                                                               EncodePercent(issuer.client_secret))));
  }
  ASSIGN_OR_RETURN(const OidcReply reply, fetcher_.Post(endpoints.token, form, authorization));
  const auto json = ParseJsonObject<Json>(reply.body);
  if (reply.status >= 500)
    return absl::UnavailableError(absl::StrCat("issuer ", issuer.name, " cannot answer now; try again"));
  if (reply.status != kOk || !json.ok())
    return Refused(absl::StrCat("issuer ", issuer.name, " refuses this login: ",
                                json.ok() ? Printable(TextClaim(*json, "error")) : "no JSON"));
  return TextClaim(*json, "id_token");
}

}  // namespace attune
