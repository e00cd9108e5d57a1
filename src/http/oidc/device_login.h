// Logins from a terminal, by a code that is entered in a browser anywhere (RFC 8628).
#ifndef ATTUNE_HTTP_OIDC_DEVICE_LOGIN_H_
#define ATTUNE_HTTP_OIDC_DEVICE_LOGIN_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "http/oidc/oidc_fetcher.h"

namespace attune {

// A public client of an issuer.
struct DeviceClient {
  std::string issuer = {}, client_id = {}, scope = {};
};

struct IssuedTokens {
  std::string token = {};          // the ID token, by which servers know the person
  std::string refresh_token = {};  // by which the next one comes; empty: the person logs in again
};

struct DeviceLoginSteps {
  // Tells the person where to go, and which code to enter there.
  std::function<void(const std::string& url, const std::string& code)> show;
  // Waits; false: the person has given up.
  std::function<bool(double seconds)> wait;
};

// Fails if the issuer knows no such logins, if the person refuses or does nothing for too long; Cancelled if
// the caller gives up. An issuer that is away for a while is asked again.
absl::StatusOr<IssuedTokens> LogInByDevice(const DeviceClient& client, const DeviceLoginSteps& steps,
                                           OidcFetcher& fetcher);
// Unauthenticated if the person must log in again; Unavailable if the issuer cannot be asked now.
absl::StatusOr<IssuedTokens> RefreshTokens(const DeviceClient& client, const std::string& refresh_token,
                                           OidcFetcher& fetcher);

}  // namespace attune

#endif  // ATTUNE_HTTP_OIDC_DEVICE_LOGIN_H_
