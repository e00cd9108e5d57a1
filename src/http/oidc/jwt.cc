#include "http/oidc/jwt.h"

#include <cjose/cjose.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/json_object.h"
#include "base/printable.h"
#include "base/status.h"

namespace attune {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostKeys = 32, kMostAudiences = 32;
constexpr size_t kLeastRsaBits = 2048, kMostRsaBits = 8192;

struct ReleaseJws {
  void operator()(cjose_jws_t* jws) const { cjose_jws_release(jws); }
};
struct ReleaseJwk {
  void operator()(cjose_jwk_t* jwk) const { cjose_jwk_release(jwk); }
};
using Jws = std::unique_ptr<cjose_jws_t, ReleaseJws>;
using Jwk = std::unique_ptr<cjose_jwk_t, ReleaseJwk>;

template <typename... Parts>
absl::Status Refused(const Parts&... parts) {
  return absl::UnauthenticatedError(absl::StrCat("the token ", parts...));
}

Jws Import(std::string_view text) {
  cjose_err error = {};
  return Jws(cjose_jws_import(text.data(), text.size(), &error));
}

std::string HeaderText(cjose_header_t* header, const char* name) {
  cjose_err error = {};
  const char* text = cjose_header_get(header, name, &error);
  return text == nullptr ? "" : text;
}

// Whether the header says more than may be overlooked (RFC 7515, 4.1.11).
bool HasCriticalHeader(cjose_header_t* header) {
  cjose_err error = {};
  const std::unique_ptr<char, decltype(&std::free)> raw(cjose_header_get_raw(header, "crit", &error),
                                                        &std::free);
  return raw != nullptr;
}

// The algorithms of a key of this kind and size.
std::vector<std::string> AlgorithmsOf(const cjose_jwk_t* key) {
  cjose_err error = {};
  const size_t bits = cjose_jwk_get_keysize(key, &error);
  switch (cjose_jwk_get_kty(key, &error)) {
    case CJOSE_JWK_KTY_RSA:
      if (bits < kLeastRsaBits || bits > kMostRsaBits) return {};
      return {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"};
    case CJOSE_JWK_KTY_EC:
      if (bits == 256) return {"ES256"};
      if (bits == 384) return {"ES384"};
      return {"ES512"};
    default:
      return {};
  }
}

// Nothing usable: no algorithms.
JsonWebKey ReadKey(const Json& json) {
  JsonWebKey key;
  if (!json.is_object() || (json.contains("use") && json["use"] != "sig")) return key;
  key.id = TextClaim(json, "kid");
  key.text = json.dump();
  cjose_err error = {};
  const Jwk jwk(cjose_jwk_import(key.text.data(), key.text.size(), &error));
  if (jwk == nullptr) return key;
  key.algorithms = AlgorithmsOf(jwk.get());
  if (json.contains("alg"))
    std::erase_if(key.algorithms, [&](const auto& name) { return json["alg"] != name; });
  return key;
}

absl::Status CheckAudience(const Json& claims, const std::vector<std::string>& audiences) {
  const auto given = claims.find("aud");
  const Json list = given == claims.end() ? Json::array()
                    : given->is_array()   ? *given
                                          : Json::array({*given});
  if (list.size() > kMostAudiences) return Refused("is for too many audiences");
  const bool is_for_us = std::ranges::any_of(list, [&](const Json& one) {
    return one.is_string() && std::ranges::find(audiences, one.get<std::string>()) != audiences.end();
  });
  if (!is_for_us) return Refused("is for another audience");
  return absl::OkStatus();
}

}  // namespace

std::string TextClaim(const Json& claims, const char* name) {
  const auto found = claims.find(name);
  return found != claims.end() && found->is_string() ? found->get<std::string>() : "";
}

int64_t TimeClaim(const Json& claims, const char* name) {
  constexpr double kMostSeconds = 1e11;
  const auto found = claims.find(name);
  if (found == claims.end() || !found->is_number()) return 0;
  const auto seconds = found->get<double>();
  if (!(seconds > 0 && seconds < kMostSeconds)) return 0;
  return static_cast<int64_t>(std::floor(seconds * 1000));
}

bool LooksLikeJwt(std::string_view text) { return std::ranges::count(text, '.') == 2; }

const std::vector<std::string>& JwtAlgorithms() {
  static const std::vector<std::string> names = {"RS256", "RS384", "RS512", "PS256", "PS384",
                                                 "PS512", "ES256", "ES384", "ES512"};
  return names;
}

absl::StatusOr<UnverifiedJwt> ParseJwt(std::string_view text) {
  if (text.size() > kMostJwtBytes) return Refused("has more than ", kMostJwtBytes, " bytes");
  const auto is_known = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  };
  if (!LooksLikeJwt(text) || !std::ranges::all_of(text, is_known)) return Refused("is not a JSON Web Token");
  const Jws jws = Import(text);
  if (jws == nullptr) return Refused("is not a signed JSON Web Token");
  cjose_header_t* header = cjose_jws_get_protected(jws.get());
  UnverifiedJwt token = {.text = std::string(text),
                         .algorithm = HeaderText(header, CJOSE_HDR_ALG),
                         .key_id = HeaderText(header, CJOSE_HDR_KID)};
  if (std::ranges::find(JwtAlgorithms(), token.algorithm) == JwtAlgorithms().end())
    return Refused("is signed by \"", Printable(token.algorithm), "\", which is not accepted");
  if (HasCriticalHeader(header)) return Refused("has critical headers, which are not supported");
  uint8_t* content = nullptr;
  size_t bytes = 0;
  cjose_err error = {};
  if (!cjose_jws_get_plaintext(jws.get(), &content, &bytes, &error)) return Refused("has no content");
  auto claims = ParseJsonObject<Json>({reinterpret_cast<const char*>(content), bytes});
  if (!claims.ok()) return Refused("has claims that cannot be read: ", claims.status().message());
  token.claims = *std::move(claims);
  return token;
}

absl::StatusOr<std::vector<JsonWebKey>> ParseKeySet(std::string_view text) {
  ASSIGN_OR_RETURN(const Json json, ParseJsonObject<Json>(text));
  const auto list = json.find("keys");
  if (list == json.end() || !list->is_array()) return InvalidInput("no key set");
  if (list->size() > kMostKeys) return InvalidInput("a key set with more than ", kMostKeys, " keys");
  std::vector<JsonWebKey> keys;
  for (const Json& one : *list)
    if (JsonWebKey key = ReadKey(one); !key.algorithms.empty()) keys.push_back(std::move(key));
  if (keys.empty()) return InvalidInput("a key set without a key for checking signatures");
  return keys;
}

absl::Status VerifySignature(const UnverifiedJwt& token, const JsonWebKey& key) {
  if (std::ranges::find(key.algorithms, token.algorithm) == key.algorithms.end())
    return Refused("is signed by ", token.algorithm, ", which its key does not allow");
  // Each call has its own objects, since libcjose's are for one thread.
  const Jws jws = Import(token.text);
  cjose_err error = {};
  const Jwk jwk(cjose_jwk_import(key.text.data(), key.text.size(), &error));
  if (jws == nullptr || jwk == nullptr || !cjose_jws_verify(jws.get(), jwk.get(), &error))
    return Refused("has a signature that is not its issuer's");
  return absl::OkStatus();
}

absl::Status CheckClaims(const Json& claims, const JwtExpectations& expected, int64_t now_ms) {
  if (TextClaim(claims, "iss") != expected.issuer) return Refused("is of another issuer");
  RETURN_IF_ERROR(CheckAudience(claims, expected.audiences));
  const int64_t expires_ms = TimeClaim(claims, "exp");
  if (expires_ms == 0) return Refused("has no expiry time");
  if (now_ms >= expires_ms + expected.skew_ms) return Refused("has expired; log in again");
  for (const char* begin : {"nbf", "iat"})
    if (TimeClaim(claims, begin) > now_ms + expected.skew_ms)
      return Refused("is not valid yet; is a clock wrong?");
  if (TextClaim(claims, "sub").empty()) return Refused("names no subject");
  if (!expected.nonce.empty() && TextClaim(claims, "nonce") != expected.nonce)
    return Refused("answers another login");
  return absl::OkStatus();
}

}  // namespace attune
