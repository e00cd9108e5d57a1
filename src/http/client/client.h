// A client of one HTTP/1.1 server, with limits for everything that the server decides.
//
// Redirects are answers like others, and nothing is compressed. A proxy is asked if the environment names
// one, by the rules of curl (http_proxy, https_proxy, all_proxy, no_proxy), except for this machine itself.
#ifndef ATTUNE_HTTP_CLIENT_CLIENT_H_
#define ATTUNE_HTTP_CLIENT_CLIENT_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/cancel.h"
#include "http/client/call.h"
#include "http/client/url.h"

namespace attune {

// Who vouches for a server that is reached by https.
struct HttpTrust {
  // Certificates in PEM; empty: the system's authorities.
  std::string authorities_pem = {};
  // SHA-256, 64 hexadecimal digits, of the public key (SubjectPublicKeyInfo) of a certificate that the server
  // shows: its own, or that of an authority, which then alone vouches for it. Empty: the authorities above.
  std::string pinned_key = {};
};

// Trust in the key of a server's certificate, the first of a chain in PEM, alone.
absl::StatusOr<HttpTrust> TrustInKeyOf(const std::string& chain_pem);

struct HttpClientOptions {
  HttpTrust trust = {};
  double connect_seconds = 10;                  // looking up the name, connecting and agreeing on keys
  double silent_seconds = 60;                   // in which no byte moves
  size_t most_header_bytes = size_t{64} << 10;  // of an answer
  size_t most_body_bytes = size_t{16} << 20;    // of an answer that is not taken piece by piece
  const Cancellation* cancellation = nullptr;   // of all calls; must outlive the client
};

class ClientConnection;
class ClientEncryption;

// Thread safe; calls at the same time have connections of their own, which are used again.
class HttpClient {
 public:
  // Connects to nobody yet. Fails if `url` or the options are wrong. The target of the URL does not matter.
  static absl::StatusOr<std::unique_ptr<HttpClient>> Open(std::string_view url,
                                                          const HttpClientOptions& options = {});
  ~HttpClient();

  const HttpUrl& url() const { return url_; }
  bool is_cancelled() const {
    return options_.cancellation != nullptr && options_.cancellation->is_cancelled();
  }

  // The server's answer, whatever its status. Errors name the server:
  // - Unavailable: it cannot be reached, is too slow, or the connection broke; it may have got the request
  // - Unauthenticated: nobody who is trusted vouches for it
  // - FailedPrecondition: it does not speak HTTP/1.1, or no TLS
  // - ResourceExhausted: its answer is larger than the limits
  // - Cancelled
  // Those of the call's own functions are returned as they are.
  absl::StatusOr<HttpAnswer> Send(const HttpCall& call);

 private:
  HttpClient(HttpUrl url, const HttpClientOptions& options, std::unique_ptr<ClientEncryption> encryption);

  // Returns null if there is none.
  std::unique_ptr<ClientConnection> TakeIdle();

  const HttpUrl url_;
  const HttpClientOptions options_;
  const std::unique_ptr<ClientEncryption> encryption_;  // null: none
  std::mutex mutex_;
  std::vector<std::unique_ptr<ClientConnection>> idle_;
};

}  // namespace attune

#endif  // ATTUNE_HTTP_CLIENT_CLIENT_H_
