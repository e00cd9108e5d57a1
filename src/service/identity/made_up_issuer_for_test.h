// An identity provider in this process, with keys of its own.
#ifndef ATTUNE_SERVICE_IDENTITY_MADE_UP_ISSUER_FOR_TEST_H_
#define ATTUNE_SERVICE_IDENTITY_MADE_UP_ISSUER_FOR_TEST_H_

#include <cjose/cjose.h>

#include <atomic>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/clock.h"
#include "http/oidc/jwt.h"
#include "http/oidc/oidc_fetcher.h"
#include "nlohmann/json.hpp"
#include "service/identity/issuers_file.h"

namespace attune {

// Thread safe, but for its keys.
class MadeUpIssuer final : public OidcFetcher {
 public:
  using Json = nlohmann::json;
  using Key = std::shared_ptr<cjose_jwk_t>;

  static constexpr char kUrl[] = "https://id.example.org";

  MadeUpIssuer() { Rotate("first"); }

  // As its operator has configured it.
  static OidcIssuer Configured() {
    return {.name = "example",
            .issuer = kUrl,
            .client_id = "page",
            .client_secret = "secret",
            .cli_client_id = "cli",
            .audiences = {"page", "cli"},
            .algorithms = {"ES256", "RS256"},
            .tenant = {.claim = "tenant"},
            .role = {.claim = "/realm/roles", .values = {{"tuner", "member"}, {"boss", "operator"}}},
            .name_claim = "name"};
  }

  static Key NewEcKey(const std::string& id) {
    cjose_err error = {};
    return Named(cjose_jwk_create_EC_random(CJOSE_JWK_EC_P_256, &error), id);
  }
  // One of HMAC, whose secret is the given text.
  static Key SecretKey(const std::string& secret, const std::string& id) {
    cjose_err error = {};
    return Named(
        cjose_jwk_create_oct_spec(reinterpret_cast<const uint8_t*>(secret.data()), secret.size(), &error),
        id);
  }
  // The public half, as it is published.
  static std::string PublicText(const Key& key) {
    cjose_err error = {};
    const std::unique_ptr<char, decltype(&std::free)> text(cjose_jwk_to_json(key.get(), false, &error),
                                                           &std::free);
    return text.get();
  }

  // From now on it has this key alone.
  void Rotate(const std::string& id) {
    const std::lock_guard<std::mutex> lock(mutex_);
    key_ = NewEcKey(id);
    keys_ = absl::StrCat("{\"keys\": [", PublicText(key_), "]}");
  }
  Key key() const { return key_; }
  void Publish(const std::string& keys) {
    const std::lock_guard<std::mutex> lock(mutex_);
    keys_ = keys;
  }

  // Claims of a person who may send requests for an hour.
  static Json Claims(const std::string& audience = "cli") {
    const int64_t now = SystemClock().WallMillis() / 1000;
    return {{"iss", kUrl},       {"aud", audience},
            {"sub", "7"},        {"iat", now},
            {"exp", now + 3600}, {"name", "Ann"},
            {"tenant", "ann"},   {"realm", {{"roles", {"tuner", "other"}}}}};
  }
  static std::string Sign(const Json& claims, const Key& key, const std::string& algorithm = "ES256",
                          const std::map<std::string, std::string>& headers = {}) {
    cjose_err error = {};
    cjose_header_t* header = cjose_header_new(&error);
    cjose_header_set(header, CJOSE_HDR_ALG, algorithm.c_str(), &error);
    if (const char* id = cjose_jwk_get_kid(key.get(), &error))
      cjose_header_set(header, CJOSE_HDR_KID, id, &error);
    for (const auto& [name, value] : headers)
      cjose_header_set_raw(header, name.c_str(), value.c_str(), &error);
    const std::string text = claims.dump();
    cjose_jws_t* jws =
        cjose_jws_sign(key.get(), header, reinterpret_cast<const uint8_t*>(text.data()), text.size(), &error);
    const char* compact = nullptr;
    cjose_jws_export(jws, &compact, &error);
    std::string token = compact;
    cjose_jws_release(jws);
    cjose_header_release(header);
    return token;
  }
  std::string Token(const Json& claims) const { return Sign(claims, key_); }

  absl::StatusOr<OidcReply> Get(const std::string& url) override {
    ++asked;
    if (is_away) return absl::UnavailableError("there is no answer");
    if (url == absl::StrCat(kUrl, "/.well-known/openid-configuration"))
      return OidcReply{.status = 200, .body = discovery.dump()};
    const std::lock_guard<std::mutex> lock(mutex_);
    return OidcReply{.status = url == absl::StrCat(kUrl, "/keys") ? 200 : 404, .body = keys_};
  }
  absl::StatusOr<OidcReply> Post(const std::string& url, const OidcForm& form,
                                 const std::string& authorization) override {
    if (is_away) return absl::UnavailableError("there is no answer");
    posted_url = url, posted = {form.begin(), form.end()}, posted_authorization = authorization;
    return reply;
  }

  Json discovery = {{"issuer", kUrl},
                    {"authorization_endpoint", absl::StrCat(kUrl, "/auth?tenant=1")},
                    {"token_endpoint", absl::StrCat(kUrl, "/token")},
                    {"jwks_uri", absl::StrCat(kUrl, "/keys")}};
  std::atomic<bool> is_away = false;
  std::atomic<int> asked = 0;
  OidcReply reply = {.status = 400, .body = R"({"error": "invalid_grant"})"};  // to a code
  std::string posted_url, posted_authorization;
  std::map<std::string, std::string> posted;

 private:
  static Key Named(cjose_jwk_t* key, const std::string& id) {
    cjose_err error = {};
    if (!id.empty()) cjose_jwk_set_kid(key, id.data(), id.size(), &error);
    return {key, [](cjose_jwk_t* released) { cjose_jwk_release(released); }};
  }

  std::mutex mutex_;
  Key key_;
  std::string keys_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_IDENTITY_MADE_UP_ISSUER_FOR_TEST_H_
