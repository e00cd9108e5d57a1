// Asks identity providers through this machine's network.
#ifndef ATTUNE_HTTP_OIDC_HTTP_OIDC_FETCHER_H_
#define ATTUNE_HTTP_OIDC_HTTP_OIDC_FETCHER_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "base/cancel.h"
#include "http/client/call.h"
#include "http/oidc/oidc_fetcher.h"

namespace attune {

class HttpOidcFetcher final : public OidcFetcher {
 public:
  // `authorities_pem`: who vouches for the providers; empty: the system's authorities. `cancellation` may be
  // null.
  explicit HttpOidcFetcher(std::string authorities_pem = "", const Cancellation* cancellation = nullptr)
      : authorities_pem_(std::move(authorities_pem)), cancellation_(cancellation) {}

  absl::StatusOr<OidcReply> Get(const std::string& url) override;
  absl::StatusOr<OidcReply> Post(const std::string& url, const OidcForm& form,
                                 const std::string& authorization) override;

 private:
  absl::StatusOr<OidcReply> Send(const std::string& url, HttpCall call) const;

  const std::string authorities_pem_;
  const Cancellation* const cancellation_;
};

}  // namespace attune

#endif  // ATTUNE_HTTP_OIDC_HTTP_OIDC_FETCHER_H_
