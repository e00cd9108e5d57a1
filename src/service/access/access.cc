#include "service/access/access.h"

#include <openssl/rand.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr std::string_view kPrefix = "attune_";
constexpr std::array<std::string_view, 4> kRoles = {"viewer", "member", "operator", "admin"};

template <size_t bytes>
absl::StatusOr<std::string> RandomBytes() {
  std::array<unsigned char, bytes> random;
  if (RAND_bytes(random.data(), random.size()) != 1) return absl::InternalError("no random numbers");
  return std::string(random.begin(), random.end());
}

}  // namespace

std::string_view Name(AccessRole role) { return kRoles[static_cast<size_t>(role)]; }

absl::StatusOr<AccessRole> AccessRoleNamed(std::string_view name) {
  const auto found = std::ranges::find(kRoles, name);
  if (found == kRoles.end()) return InvalidInput("there is no role \"", Printable(name), "\"");
  return static_cast<AccessRole>(std::distance(kRoles.begin(), found));
}

absl::StatusOr<std::string> NewTokenText() {
  constexpr size_t kBytes = 32;
  ASSIGN_OR_RETURN(const std::string random, RandomBytes<kBytes>());
  return absl::StrCat(kPrefix, absl::WebSafeBase64Escape(random));
}

std::string DigestOfToken(std::string_view text) { return Sha256Hex(text); }

absl::StatusOr<std::string> NewId() {
  constexpr size_t kBytes = 16;
  ASSIGN_OR_RETURN(const std::string random, RandomBytes<kBytes>());
  return absl::BytesToHexString(random);
}

}  // namespace attune
