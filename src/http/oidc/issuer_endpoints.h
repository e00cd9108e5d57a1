// Where an identity provider is asked for what.
#ifndef ATTUNE_HTTP_OIDC_ISSUER_ENDPOINTS_H_
#define ATTUNE_HTTP_OIDC_ISSUER_ENDPOINTS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "http/oidc/oidc_fetcher.h"

namespace attune {

// Whether a URL may be asked for keys or tokens: by TLS, or on this machine.
bool IsSafeUrl(std::string_view url);

// Returns the body that is answered with 200; Unavailable if there is another answer or none.
absl::StatusOr<std::string> GetText(const std::string& url, OidcFetcher& fetcher);

struct IssuerEndpoints {
  std::string authorization = {}, token = {}, keys = {};
  std::string device = {};  // empty: people cannot log in by a device code
};

// From the issuer's discovery document (OpenID Connect Discovery 1.0). Fails if it is not that issuer's, or
// names an endpoint that is not safe.
absl::StatusOr<IssuerEndpoints> DiscoverIssuer(const std::string& issuer, OidcFetcher& fetcher);

}  // namespace attune

#endif  // ATTUNE_HTTP_OIDC_ISSUER_ENDPOINTS_H_
