#include "http/client/encryption.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/beast/core/error.hpp>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/status.h"

namespace attune {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

template <auto kFree>
struct FreeWith {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};

absl::Status NotTrusted(std::string_view why) {
  return absl::UnauthenticatedError(absl::StrCat("no trusted authority vouches for this server (", why, ")"));
}

std::string KeyDigest(const X509* certificate) {
  unsigned char* bytes = nullptr;
  const int size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &bytes);
  if (size <= 0) return "";
  std::string digest = Sha256Hex({reinterpret_cast<const char*>(bytes), static_cast<size_t>(size)});
  OPENSSL_free(bytes);
  return digest;
}

// That a certificate must be for this host: by its alternative names alone.
absl::Status RequireHost(X509_VERIFY_PARAM* parameters, const std::string& host) {
  error_code is_name;
  asio::ip::make_address(host, is_name);
  X509_VERIFY_PARAM_set_hostflags(parameters,
                                  X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  const int is_set = is_name ? X509_VERIFY_PARAM_set1_host(parameters, host.data(), host.size())
                             : X509_VERIFY_PARAM_set1_ip_asc(parameters, host.c_str());
  return is_set == 1 ? absl::OkStatus() : InvalidInput("OpenSSL takes no host \"", host, "\"");
}

bool IsDigest(std::string_view text) {
  constexpr size_t kDigits = 64;
  return text.size() == kDigits && std::ranges::all_of(text, [](char c) {
           return absl::ascii_isxdigit(static_cast<unsigned char>(c)) && !absl::ascii_isupper(c);
         });
}

}  // namespace

absl::StatusOr<HttpTrust> TrustInKeyOf(const std::string& chain_pem) {
  const std::unique_ptr<BIO, FreeWith<BIO_free>> text(
      BIO_new_mem_buf(chain_pem.data(), static_cast<int>(chain_pem.size())));
  const std::unique_ptr<X509, FreeWith<X509_free>> certificate(
      PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr));
  if (certificate == nullptr) {
    ERR_clear_error();
    return InvalidInput("does not begin with a certificate in PEM");
  }
  return HttpTrust{.pinned_key = KeyDigest(certificate.get())};
}

absl::StatusOr<std::unique_ptr<ClientEncryption>> ClientEncryption::Make(const HttpTrust& trust,
                                                                         std::string host) {
  if (!trust.pinned_key.empty() && !IsDigest(trust.pinned_key))
    return InvalidInput("the pinned key is not a SHA-256 of 64 hexadecimal digits");
  std::unique_ptr<ClientEncryption> made(new ClientEncryption(std::move(host), trust.pinned_key));
  error_code error;
  made->context_.set_options(
      asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1,
      error);
  if (trust.authorities_pem.empty()) {
    made->context_.set_default_verify_paths(error);
  } else {
    made->context_.add_certificate_authority(asio::buffer(trust.authorities_pem), error);
  }
  if (error) return InvalidInput("the certificates of the authorities cannot be used: ", error.message());
  return made;
}

absl::Status ClientEncryption::Prepare(SSL* tls) const {
  SSL_set_verify(tls, pinned_key_.empty() ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  RETURN_IF_ERROR(RequireHost(SSL_get0_param(tls), host_));
  error_code is_name;
  asio::ip::make_address(host_, is_name);
  // An address is no server name (RFC 6066).
  if (is_name && SSL_set_tlsext_host_name(tls, host_.c_str()) != 1)
    return InvalidInput("OpenSSL takes no server name \"", host_, "\"");
  return absl::OkStatus();
}

absl::Status ClientEncryption::CheckPeer(SSL* tls) const {
  if (pinned_key_.empty()) return absl::OkStatus();
  STACK_OF(X509)* chain = SSL_get_peer_cert_chain(tls);
  for (int i = 0; chain != nullptr && i < sk_X509_num(chain); ++i) {
    X509* certificate = sk_X509_value(chain, i);
    if (KeyDigest(certificate) == pinned_key_) return VerifyBy(certificate, sk_X509_value(chain, 0), chain);
  }
  return NotTrusted("it shows no certificate with the pinned key");
}

absl::Status ClientEncryption::VerifyBy(X509* pinned, X509* own, STACK_OF(X509) * chain) const {
  const std::unique_ptr<X509_STORE, FreeWith<X509_STORE_free>> store(X509_STORE_new());
  const std::unique_ptr<X509_STORE_CTX, FreeWith<X509_STORE_CTX_free>> context(X509_STORE_CTX_new());
  if (store == nullptr || context == nullptr || X509_STORE_add_cert(store.get(), pinned) != 1 ||
      X509_STORE_CTX_init(context.get(), store.get(), own, chain) != 1 ||
      X509_STORE_CTX_set_default(context.get(), "ssl_server") != 1)
    return absl::ResourceExhaustedError("OpenSSL cannot verify a certificate");
  X509_VERIFY_PARAM* parameters = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_flags(parameters, X509_V_FLAG_PARTIAL_CHAIN);
  // The key of the server itself says more than any name of a host.
  if (pinned != own) RETURN_IF_ERROR(RequireHost(parameters, host_));
  if (X509_verify_cert(context.get()) == 1) return absl::OkStatus();
  return NotTrusted(X509_verify_cert_error_string(X509_STORE_CTX_get_error(context.get())));
}

absl::Status ClientEncryption::HandshakeError(const SSL* tls, const error_code& error) {
  const long verified = SSL_get_verify_result(tls);
  if (verified != X509_V_OK) return NotTrusted(X509_verify_cert_error_string(verified));
  if (error.category() == asio::error::get_ssl_category())
    return absl::FailedPreconditionError(absl::StrCat("speaks no TLS with this client: ", error.message()));
  const std::string why = error == boost::beast::error::timeout ? "it is too slow" : error.message();
  return absl::UnavailableError(absl::StrCat("cannot agree on keys: ", why));
}

}  // namespace attune
