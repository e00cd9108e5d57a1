#include "http/client/encryption.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/free_with.h"
#include "base/status.h"

namespace attune {
namespace {

// The error of a chain of which no certificate has the pinned key.
constexpr int kNotPinned = X509_V_ERR_APPLICATION_VERIFICATION;

using Certificate = std::unique_ptr<X509, FreeWith<X509_free>>;

std::string KeyDigest(const X509* certificate) {
  unsigned char* bytes = nullptr;
  const int size = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(certificate), &bytes);
  if (size <= 0) return "";
  std::string digest = Sha256Hex({reinterpret_cast<const char*>(bytes), static_cast<size_t>(size)});
  OPENSSL_free(bytes);
  return digest;
}

// The first certificate of a text in PEM; null: there is none.
Certificate ReadCertificate(const std::string& pem) {
  const std::unique_ptr<BIO, FreeWith<BIO_free>> text(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  Certificate certificate(PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr));
  if (certificate == nullptr) ERR_clear_error();
  return certificate;
}

// Returns the file of certificates of the authorities that this system trusts, at the place of Debian,
// Fedora, openSUSE or Alpine: a program that runs on all of them finds out where it is. Empty: there is none.
std::string FileOfAuthorities() {
  for (const char* path : {"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
                           "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"})
    if (access(path, R_OK) == 0) return path;
  return "";
}

// Requires that a certificate names this host among its alternative names. Returns false if OpenSSL cannot
// check for it.
bool RequireHost(X509_VERIFY_PARAM* parameters, const std::string& host) {
  X509_VERIFY_PARAM_set_hostflags(parameters,
                                  X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  return X509_VERIFY_PARAM_set1_ip_asc(parameters, host.c_str()) == 1 ||
         X509_VERIFY_PARAM_set1_host(parameters, host.data(), host.size()) == 1;
}

bool IsDigest(std::string_view text) {
  constexpr size_t kDigits = 64;
  return text.size() == kDigits && std::ranges::all_of(text, [](char c) {
           return absl::ascii_isxdigit(static_cast<unsigned char>(c)) && !absl::ascii_isupper(c);
         });
}

}  // namespace

absl::StatusOr<HttpTrust> TrustInKeyOf(const std::string& chain_pem) {
  const Certificate certificate = ReadCertificate(chain_pem);
  if (certificate == nullptr) return InvalidInput("does not begin with a certificate in PEM");
  return HttpTrust{.pinned_key = KeyDigest(certificate.get())};
}

absl::StatusOr<std::unique_ptr<ClientEncryption>> ClientEncryption::Make(const HttpTrust& trust,
                                                                         std::string host) {
  if (!trust.pinned_key.empty() && !IsDigest(trust.pinned_key))
    return InvalidInput("the pinned key is not a SHA-256 of 64 hexadecimal digits");
  if (!trust.authorities_pem.empty() && ReadCertificate(trust.authorities_pem) == nullptr)
    return InvalidInput("the certificates of the authorities cannot be used: they are not in PEM");
  return std::unique_ptr<ClientEncryption>(new ClientEncryption(trust, std::move(host)));
}

CURLcode ClientEncryption::SetUp(CURL* easy) const {
  CURLcode code = CURLE_OK;
  const auto set = [&](CURLoption option, auto value) {
    if (code == CURLE_OK) code = curl_easy_setopt(easy, option, value);
  };
  set(CURLOPT_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  set(CURLOPT_PROXY_SSLVERSION, long{CURL_SSLVERSION_TLSv1_2});
  // A resumed session would not be verified again.
  set(CURLOPT_SSL_SESSIONID_CACHE, 0L);
  // The same variables name the system's authorities for other programs that use OpenSSL.
  const char* given = std::getenv(X509_get_default_cert_file_env());
  const std::string file = given != nullptr ? given : FileOfAuthorities();
  const char* folder = std::getenv(X509_get_default_cert_dir_env());
  for (const CURLoption option : {CURLOPT_CAINFO, CURLOPT_PROXY_CAINFO})
    if (!file.empty()) set(option, file.c_str());
  for (const CURLoption option : {CURLOPT_CAPATH, CURLOPT_PROXY_CAPATH})
    if (folder != nullptr) set(option, folder);
  if (!trust_.pinned_key.empty()) {
    set(CURLOPT_SSL_VERIFYPEER, 0L);
    set(CURLOPT_SSL_VERIFYHOST, 0L);
    set(CURLOPT_SSL_CTX_FUNCTION, &VerifyByPin);
    set(CURLOPT_SSL_CTX_DATA, this);
  } else if (!trust_.authorities_pem.empty()) {
    curl_blob authorities = {.data = const_cast<char*>(trust_.authorities_pem.data()),
                             .len = trust_.authorities_pem.size(),
                             .flags = CURL_BLOB_NOCOPY};
    set(CURLOPT_CAINFO_BLOB, &authorities);
    set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));
  }
  return code;
}

CURLcode ClientEncryption::VerifyByPin(CURL*, void* tls_context, void* self) {
  auto* context = static_cast<SSL_CTX*>(tls_context);
  // Libcurl calls this for a proxy at https, too, which it verifies by the system's authorities.
  if (SSL_CTX_get_verify_mode(context) != SSL_VERIFY_NONE) return CURLE_OK;
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(context, &Verify, self);
  return CURLE_OK;
}

int ClientEncryption::Verify(X509_STORE_CTX* handshake, void* self) {
  const auto* encryption = static_cast<const ClientEncryption*>(self);
  STACK_OF(X509)* chain = X509_STORE_CTX_get0_untrusted(handshake);
  int error = kNotPinned;
  for (int i = 0; chain != nullptr && error == kNotPinned && i < sk_X509_num(chain); ++i)
    if (X509* certificate = sk_X509_value(chain, i); KeyDigest(certificate) == encryption->trust_.pinned_key)
      error = encryption->VerifyBy(certificate, X509_STORE_CTX_get0_cert(handshake), chain);
  X509_STORE_CTX_set_error(handshake, error);
  return error == X509_V_OK ? 1 : 0;
}

int ClientEncryption::VerifyBy(X509* pinned, X509* own, STACK_OF(X509) * chain) const {
  const std::unique_ptr<X509_STORE, FreeWith<X509_STORE_free>> store(X509_STORE_new());
  const std::unique_ptr<X509_STORE_CTX, FreeWith<X509_STORE_CTX_free>> context(X509_STORE_CTX_new());
  if (store == nullptr || context == nullptr || X509_STORE_add_cert(store.get(), pinned) != 1 ||
      X509_STORE_CTX_init(context.get(), store.get(), own, chain) != 1 ||
      X509_STORE_CTX_set_default(context.get(), "ssl_server") != 1)
    return X509_V_ERR_OUT_OF_MEM;
  X509_VERIFY_PARAM* parameters = X509_STORE_CTX_get0_param(context.get());
  X509_VERIFY_PARAM_set_flags(parameters, X509_V_FLAG_PARTIAL_CHAIN);
  // The key of the server itself says more than any name of a host.
  if (pinned != own && !RequireHost(parameters, host_)) return X509_V_ERR_HOSTNAME_MISMATCH;
  if (X509_verify_cert(context.get()) == 1) return X509_V_OK;
  const int error = X509_STORE_CTX_get_error(context.get());
  return error == X509_V_OK ? X509_V_ERR_UNSPECIFIED : error;
}

absl::Status ClientEncryption::ErrorOf(CURL* easy, CURLcode code, std::string_view why) {
  if (code == CURLE_SSL_CONNECT_ERROR) {
    // The text is OpenSSL's if the server answers otherwise, and libcurl's if the connection breaks.
    const bool is_broken =
        !absl::StrContains(why, "SSL routines") || absl::StrContains(why, "unexpected eof");
    if (is_broken) return absl::UnavailableError(absl::StrCat("cannot agree on keys: ", why));
    return absl::FailedPreconditionError(absl::StrCat("speaks no TLS with this client: ", why));
  }
  long verified = X509_V_OK;
  curl_easy_getinfo(easy, CURLINFO_SSL_VERIFYRESULT, &verified);
  if (verified == kNotPinned) why = "it shows no certificate with the pinned key";
  return absl::UnauthenticatedError(absl::StrCat("no trusted authority vouches for this server (", why, ")"));
}

}  // namespace attune
