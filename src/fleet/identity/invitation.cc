#include "fleet/identity/invitation.h"

#include <openssl/rand.h>

#include <array>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr std::string_view kPrefix = "attune-invitation-1-";
constexpr size_t kSecretBytes = 24, kChecksumDigits = 8;
constexpr size_t kMostTextBytes = 1024;
constexpr char kSeparator = '\n';

std::string ChecksumOf(std::string_view content) { return Sha256Hex(content).substr(0, kChecksumDigits); }

}  // namespace

absl::StatusOr<Invitation> Invitation::New(std::string address, std::string fingerprint) {
  std::array<unsigned char, kSecretBytes> bytes;
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) return absl::InternalError("no random numbers");
  return Invitation{
      .address = std::move(address),
      .fingerprint = std::move(fingerprint),
      .secret = absl::BytesToHexString({reinterpret_cast<const char*>(bytes.data()), bytes.size()})};
}

std::string Invitation::Text() const {
  const std::string content = absl::StrCat(address, "\n", fingerprint, "\n", secret);
  return absl::StrCat(kPrefix, absl::WebSafeBase64Escape(absl::StrCat(content, "\n", ChecksumOf(content))));
}

absl::StatusOr<Invitation> Invitation::Parse(std::string_view text) {
  text = absl::StripAsciiWhitespace(text);
  if (!text.starts_with(kPrefix) || text.size() > kMostTextBytes)
    return InvalidInput(text.empty() ? "the invitation is empty" : "this is not an invitation",
                        "; an invitation begins with ", kPrefix);
  std::string bytes;
  const bool is_escaped = absl::WebSafeBase64Unescape(text.substr(kPrefix.size()), &bytes);
  const std::vector<std::string> parts = absl::StrSplit(bytes, kSeparator);
  constexpr size_t kParts = 4;
  if (is_escaped && parts.size() == kParts) {
    Invitation invitation = {.address = parts[0], .fingerprint = parts[1], .secret = parts[2]};
    // Also where the last digit has bits that do not count.
    if (invitation.Text() == text) return invitation;
  }
  return InvalidInput("the invitation is damaged; copy all of it");
}

}  // namespace attune
