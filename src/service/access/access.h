// Who may do what over REST: tokens, tenants and roles.
#ifndef ATTUNE_SERVICE_ACCESS_ACCESS_H_
#define ATTUNE_SERVICE_ACCESS_ACCESS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace attune {

// Each may do what the ones before it may.
enum class AccessRole : uint8_t {
  kViewer,    // reads what its tenant has
  kMember,    // sends models, submits and cancels jobs
  kOperator,  // gives and revokes tokens of its tenant
  kAdmin,     // those of all tenants
};
std::string_view Name(AccessRole role);
absl::StatusOr<AccessRole> AccessRoleNamed(std::string_view name);

// The facts about a token; only its holder knows its text. Times are ms since 1970, UTC.
struct AccessToken {
  std::string id = {};
  std::string name = {};    // for people
  std::string tenant = {};  // whose jobs and files it reaches: the owner of jobs
  AccessRole role = AccessRole::kViewer;
  std::string created_by = {};  // the id of the token that has made it; empty: it was made beside the server
  int64_t created_ms = 0, expires_ms = 0;

  bool operator==(const AccessToken&) const = default;
};

// The tenant of tokens that name none, whose jobs the server's own runners run.
inline constexpr char kFirstTenant[] = "server";
inline constexpr int64_t kDayMs = int64_t{86'400'000};
inline constexpr int64_t kMostTokenDays = 366, kUsualTokenDays = 30;

// 256 random bits as text, with a beginning by which people and secret scanners know it.
absl::StatusOr<std::string> NewTokenText();
// The name under which a store keeps the token. The text cannot be found from it. It is looked up in an
// index, and how long that takes says nothing of the text, whose digest no attacker can choose digit by
// digit.
std::string DigestOfToken(std::string_view text);
// 128 random bits, for ids that cannot be guessed.
absl::StatusOr<std::string> NewId();

}  // namespace attune

#endif  // ATTUNE_SERVICE_ACCESS_ACCESS_H_
