// TLS of an HttpClient: who vouches for its server. For the sources of this folder alone.
#ifndef ATTUNE_HTTP_CLIENT_ENCRYPTION_H_
#define ATTUNE_HTTP_CLIENT_ENCRYPTION_H_

#include <openssl/ssl.h>

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "http/client/client.h"

namespace attune {

class ClientEncryption {
 public:
  // Fails if the certificates or the pinned key are none.
  static absl::StatusOr<std::unique_ptr<ClientEncryption>> Make(const HttpTrust& trust, std::string host);

  boost::asio::ssl::context& context() { return context_; }

  // Before the handshake of a connection. Without a pinned key, OpenSSL then verifies the server.
  absl::Status Prepare(SSL* tls) const;
  // After the handshake: the key is pinned, and nothing is verified yet.
  absl::Status CheckPeer(SSL* tls) const;
  // The reason for a handshake that has failed.
  static absl::Status HandshakeError(const SSL* tls, const boost::system::error_code& error);

 private:
  ClientEncryption(std::string host, std::string pinned_key)
      : host_(std::move(host)), pinned_key_(std::move(pinned_key)) {}

  // Verifies the certificate of the server, which has shown the chain, by the one with the pinned key.
  absl::Status VerifyBy(X509* pinned, X509* own, STACK_OF(X509) * chain) const;

  const std::string host_;
  const std::string pinned_key_;
  boost::asio::ssl::context context_{boost::asio::ssl::context::tls_client};
};

}  // namespace attune

#endif  // ATTUNE_HTTP_CLIENT_ENCRYPTION_H_
