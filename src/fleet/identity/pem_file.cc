#include "fleet/identity/pem_file.h"

#include "base/status.h"

namespace attune {

absl::StatusOr<PemParts> SplitPem(std::string_view text) {
  constexpr std::string_view kBegin = "-----BEGIN ", kEnd = "-----END ";
  constexpr std::string_view kCertificate = "-----BEGIN CERTIFICATE-----",
                             kKey = "-----BEGIN PRIVATE KEY-----";
  PemParts parts;
  size_t begin = text.find(kBegin);
  parts.preamble = text.substr(0, begin);
  while (begin != std::string_view::npos) {
    const size_t last_line = text.find(kEnd, begin);
    const size_t end = text.find('\n', last_line);
    if (last_line == std::string_view::npos || end == std::string_view::npos)
      return InvalidInput("a certificate or key has no end");
    const std::string_view part = text.substr(begin, end + 1 - begin);
    if (part.starts_with(kCertificate)) {
      parts.certificates.emplace_back(part);
    } else if (part.starts_with(kKey)) {
      parts.keys.emplace_back(part);
    } else {
      return InvalidInput("has something other than certificates and private keys");
    }
    begin = text.find(kBegin, end);
  }
  return parts;
}

}  // namespace attune
