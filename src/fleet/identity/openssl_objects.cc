#include "fleet/identity/openssl_objects.h"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace attune {

absl::Status OpenSslError(std::string_view what) {
  std::array<char, 256> reason;
  const unsigned long code = ERR_get_error();
  ERR_error_string_n(code, reason.data(), reason.size());
  ERR_clear_error();
  return absl::InternalError(absl::StrCat(what, ": ", code == 0 ? "no reason is given" : reason.data()));
}

BioPointer ReadingBio(std::string_view text) {
  constexpr size_t kMostPemBytes = 1 << 16;
  return BioPointer(BIO_new_mem_buf(text.data(), static_cast<int>(std::min(text.size(), kMostPemBytes))));
}

int NoPassword(char*, int, int, void*) { return -1; }

absl::StatusOr<X509Pointer> ParseCertificate(std::string_view pem) {
  X509Pointer certificate(PEM_read_bio_X509(ReadingBio(pem).get(), nullptr, NoPassword, nullptr));
  if (certificate != nullptr) return certificate;
  ERR_clear_error();
  return InvalidInput("is not a certificate in PEM");
}

absl::StatusOr<std::string> CertificateToPem(const X509* certificate) {
  return ToPem([&](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
}

}  // namespace attune
