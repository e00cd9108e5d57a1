// OpenSSL's objects with owners, its errors as statuses, and certificates to and from PEM. For the files of
// this folder alone.
#ifndef ATTUNE_FLEET_IDENTITY_OPENSSL_OBJECTS_H_
#define ATTUNE_FLEET_IDENTITY_OPENSSL_OBJECTS_H_

#include <openssl/bio.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/free_with.h"

namespace attune {

using BioPointer = std::unique_ptr<BIO, FreeWith<BIO_free>>;
using X509Pointer = std::unique_ptr<X509, FreeWith<X509_free>>;

// An internal error: `what`, and the reason that OpenSSL has for the failure of this thread's last call.
absl::Status OpenSslError(std::string_view what);

// Reads from `text`, which must outlive it, at most 64 KiB.
BioPointer ReadingBio(std::string_view text);

// For OpenSSL's readers of PEM: no encrypted file is accepted, so that OpenSSL never asks for a password.
int NoPassword(char*, int, int, void*);

// The first certificate of the text. Fails if there is none.
absl::StatusOr<X509Pointer> ParseCertificate(std::string_view pem);

// The text that `write`, which calls one of OpenSSL's functions, writes to a BIO.
template <typename Write>
absl::StatusOr<std::string> ToPem(const Write& write) {
  const BioPointer bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr || write(bio.get()) != 1) return OpenSslError("cannot write PEM");
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return std::string(text, static_cast<size_t>(size));
}
absl::StatusOr<std::string> CertificateToPem(const X509* certificate);

}  // namespace attune

#endif  // ATTUNE_FLEET_IDENTITY_OPENSSL_OBJECTS_H_
