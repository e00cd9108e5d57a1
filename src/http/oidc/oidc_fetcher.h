// Asks identity providers over HTTP.
#ifndef ATTUNE_HTTP_OIDC_OIDC_FETCHER_H_
#define ATTUNE_HTTP_OIDC_OIDC_FETCHER_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"

namespace attune {

using OidcForm = std::vector<std::pair<std::string, std::string>>;

struct OidcReply {
  int status = 0;
  std::string body = {};
};

// Thread safe.
class OidcFetcher {
 public:
  virtual ~OidcFetcher() = default;
  // Bounded in size and time, and without redirects. Unavailable without an answer.
  virtual absl::StatusOr<OidcReply> Get(const std::string& url) = 0;
  // `authorization`: the header's value; empty: none.
  virtual absl::StatusOr<OidcReply> Post(const std::string& url, const OidcForm& form,
                                         const std::string& authorization) = 0;
};

}  // namespace attune

#endif  // ATTUNE_HTTP_OIDC_OIDC_FETCHER_H_
