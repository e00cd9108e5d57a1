// TLS of an HttpClient: who vouches for its server. Only for the sources of this folder.
#ifndef ATTUNE_HTTP_CLIENT_ENCRYPTION_H_
#define ATTUNE_HTTP_CLIENT_ENCRYPTION_H_

#include <curl/curl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "http/client/client.h"

namespace attune {

class ClientEncryption {
 public:
  // Fails if the certificates or the pinned key are none.
  static absl::StatusOr<std::unique_ptr<ClientEncryption>> Make(const HttpTrust& trust, std::string host);

  // Has the handle's transfers verify the server. Must outlive the handle.
  CURLcode SetUp(CURL* easy) const;
  // Returns the error of a transfer that TLS has ended with this code. `why` is libcurl's text.
  static absl::Status ErrorOf(CURL* easy, CURLcode code, std::string_view why);

 private:
  ClientEncryption(const HttpTrust& trust, std::string host) : trust_(trust), host_(std::move(host)) {}

  // Callbacks of libcurl and of OpenSSL, whose last argument is the object.
  static CURLcode VerifyByPin(CURL* easy, void* tls_context, void* self);
  static int Verify(X509_STORE_CTX* handshake, void* self);
  // Verifies `own`, the certificate of a server that has shown the chain, by the one with the pinned key.
  // Returns X509_V_OK or the reason against it.
  int VerifyBy(X509* pinned, X509* own, STACK_OF(X509) * chain) const;

  const HttpTrust trust_;
  const std::string host_;
};

}  // namespace attune

#endif  // ATTUNE_HTTP_CLIENT_ENCRYPTION_H_
