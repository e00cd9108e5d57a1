// People whom identity providers vouch for: by a token that comes with a request, or by a login in a browser.
//
// A login is the authorization code flow with PKCE (RFC 6749, RFC 7636, OpenID Connect Core). Problem:
// between its two halves, state, nonce and verifier must last, and anyone may begin any number of logins.
// Idea: all three follow from one secret, which the browser keeps in a cookie; the server keeps nothing, and
// a login that was begun elsewhere does not end here.
#ifndef ATTUNE_SERVICE_IDENTITY_OIDC_LOGINS_H_
#define ATTUNE_SERVICE_IDENTITY_OIDC_LOGINS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "http/oidc/oidc_fetcher.h"
#include "service/identity/issuer_keys.h"
#include "service/identity/issuers_file.h"

namespace attune {

// Times are ms since 1970.
struct VouchedPerson {
  KnownPerson person = {};
  int64_t issued_ms = 0, expires_ms = 0;
};

// Thread safe. The fetcher and the clock must outlive it.
class OidcLogins {
 public:
  OidcLogins(OidcIssuers issuers, OidcFetcher& fetcher, const Clock& clock = SystemClock(),
             const IssuerKeysTiming& timing = {});

  // Fails if the system has no thread to give.
  absl::Status Begin();
  const OidcIssuers& configured() const { return issuers_; }

  // Unauthenticated if the token does not count, with the reason; Unavailable if that cannot be known now.
  absl::StatusOr<VouchedPerson> Identify(std::string_view token);

  // Where the browser goes to log in. `secret` is random. NotFound if there is no such issuer.
  absl::StatusOr<std::string> BeginLogin(const std::string& issuer, std::string_view secret);
  // When it comes back. Errors as Identify().
  struct Callback {
    std::string state = {}, code = {};
    std::string issuer = {};  // as RFC 9207 has it; may be empty
  };
  absl::StatusOr<VouchedPerson> FinishLogin(const Callback& callback, std::string_view secret);

 private:
  struct Provider {
    const OidcIssuer& issuer;
    IssuerKeys keys;
  };
  Provider* Named(std::string_view name);
  std::string RedirectUrl() const;
  absl::StatusOr<VouchedPerson> Vouched(Provider& provider, std::string_view token, JwtExpectations expected);
  // The ID token that a code stands for.
  absl::StatusOr<std::string> Redeem(Provider& provider, const std::string& code,
                                     const std::string& verifier);

  const OidcIssuers issuers_;
  OidcFetcher& fetcher_;
  const Clock& clock_;
  std::vector<std::unique_ptr<Provider>> providers_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_IDENTITY_OIDC_LOGINS_H_
