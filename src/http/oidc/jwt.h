// Signed JSON Web Tokens (RFC 7519) of identity providers, and the keys that sign them.
//
// libcjose checks signatures. It would do so with any algorithm that a token names, so that is decided here:
// those with public keys alone, and each key with its own kind. Thus neither "none" nor a public key that is
// taken for a secret of HMAC makes a token good.
#ifndef ATTUNE_HTTP_OIDC_JWT_H_
#define ATTUNE_HTTP_OIDC_JWT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace attune {

inline constexpr size_t kMostJwtBytes = size_t{8} << 10;

// Nothing of it is to be believed before VerifySignature() and CheckClaims().
struct UnverifiedJwt {
  std::string text = {};
  std::string algorithm = {};
  std::string key_id = {};  // may be empty
  nlohmann::json claims = {};
};

// A public key (RFC 7517).
struct JsonWebKey {
  std::string id = {};  // may be empty
  std::string text = {};
  std::vector<std::string> algorithms = {};  // that may be checked with it
};

// Whether a text could be one, as opposed to a token of our own.
bool LooksLikeJwt(std::string_view text);
// The algorithms that are known here.
const std::vector<std::string>& JwtAlgorithms();

absl::StatusOr<UnverifiedJwt> ParseJwt(std::string_view text);
// The keys of a key set that signatures can be checked with; others are left out. Fails if it is none, has no
// such key, or too many.
absl::StatusOr<std::vector<JsonWebKey>> ParseKeySet(std::string_view text);

// Unauthenticated, as below, if the key has not signed the token or is not for its algorithm.
absl::Status VerifySignature(const UnverifiedJwt& token, const JsonWebKey& key);

struct JwtExpectations {
  std::string issuer = {};
  std::vector<std::string> audiences = {};  // one of them
  std::string nonce = {};                   // empty: none
  int64_t skew_ms = 60'000;                 // by which clocks may differ
};
// Whether the claims are from that issuer, for us, and of now. A token without an end never counts.
absl::Status CheckClaims(const nlohmann::json& claims, const JwtExpectations& expected, int64_t now_ms);
// A claim that is a time, in ms since 1970; 0 if it is none.
int64_t TimeClaim(const nlohmann::json& claims, const char* name);
// Empty if it is no text.
std::string TextClaim(const nlohmann::json& claims, const char* name);

}  // namespace attune

#endif  // ATTUNE_HTTP_OIDC_JWT_H_
