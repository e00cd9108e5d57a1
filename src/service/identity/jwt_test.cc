#include "http/oidc/jwt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "service/identity/made_up_issuer_for_test.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

JsonWebKey PublicKey(const MadeUpIssuer::Key& key) {
  const auto keys = ParseKeySet(absl::StrCat("{\"keys\": [", MadeUpIssuer::PublicText(key), "]}"));
  EXPECT_TRUE(keys.ok()) << keys.status();
  return keys->front();
}

std::string Message(const absl::Status& status) { return std::string(status.message()); }

// A token with these texts before they are encoded, and any signature.
std::string Assembled(const std::string& header, const std::string& claims, const std::string& signature) {
  return absl::StrCat(absl::WebSafeBase64Escape(header), ".", absl::WebSafeBase64Escape(claims), ".",
                      signature);
}

TEST(JwtTest, ASignatureIsChecked) {
  const auto key = MadeUpIssuer::NewEcKey("k"), other = MadeUpIssuer::NewEcKey("k");
  const auto token = ParseJwt(MadeUpIssuer::Sign(MadeUpIssuer::Claims(), key));
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_EQ(token->algorithm, "ES256");
  EXPECT_EQ(token->key_id, "k");
  EXPECT_EQ(token->claims["sub"], "7");
  EXPECT_EQ(VerifySignature(*token, PublicKey(key)), absl::OkStatus());
  EXPECT_TRUE(absl::IsUnauthenticated(VerifySignature(*token, PublicKey(other))));
}

TEST(JwtTest, EveryChangedByteIsSeen) {
  const auto key = MadeUpIssuer::NewEcKey("");
  const JsonWebKey known = PublicKey(key);
  const std::string text = MadeUpIssuer::Sign(MadeUpIssuer::Claims(), key);
  for (size_t i = 0; i < text.size(); i += 3) {
    std::string changed = text;
    changed[i] = changed[i] == 'A' ? 'Q' : 'A';
    if (changed == text) continue;
    const auto token = ParseJwt(changed);
    EXPECT_FALSE(token.ok() && VerifySignature(*token, known).ok()) << i;
  }
}

TEST(JwtTest, NoneIsNoAlgorithm) {
  for (const char* name : {"none", "None", "NONE", ""}) {
    const auto token =
        ParseJwt(Assembled(absl::StrCat(R"({"alg":")", name, R"("})"), MadeUpIssuer::Claims().dump(), ""));
    EXPECT_TRUE(absl::IsUnauthenticated(token.status())) << name;
  }
}

TEST(JwtTest, APublicKeyIsNoSecret) {
  const auto key = MadeUpIssuer::NewEcKey("k");
  const auto forged = MadeUpIssuer::SecretKey(MadeUpIssuer::PublicText(key), "k");
  const auto token = ParseJwt(MadeUpIssuer::Sign(MadeUpIssuer::Claims(), forged, "HS256"));
  EXPECT_THAT(Message(token.status()), HasSubstr("\"HS256\", which is not accepted"));
}

TEST(JwtTest, AKeyIsForItsAlgorithms) {
  const auto key = MadeUpIssuer::NewEcKey("k");
  JsonWebKey known = PublicKey(key);
  EXPECT_THAT(known.algorithms, ElementsAre("ES256"));
  known.algorithms = {"ES384"};
  const auto token = ParseJwt(MadeUpIssuer::Sign(MadeUpIssuer::Claims(), key));
  EXPECT_TRUE(absl::IsUnauthenticated(VerifySignature(*token, known)));
}

TEST(JwtTest, WhatIsNoTokenIsRefused) {
  const std::string header = R"({"alg":"ES256"})", claims = MadeUpIssuer::Claims().dump();
  for (const std::string& text :
       {std::string(), std::string(".."), std::string("a.b"), std::string("a.b.c.d"),
        std::string(kMostJwtBytes + 1, 'a'), Assembled("{", claims, "AAAA"), Assembled("[]", claims, "AAAA"),
        Assembled(header, "[]", "AAAA"), Assembled(header, std::string(3000, '['), "AAAA"),
        Assembled(header, "{", "AAAA"), Assembled(header, claims, "A\nA"),
        Assembled(R"({"alg":7})", claims, "AAAA")})
    EXPECT_TRUE(absl::IsUnauthenticated(ParseJwt(text).status())) << text.substr(0, 80);
  const auto critical = ParseJwt(MadeUpIssuer::Sign(MadeUpIssuer::Claims(), MadeUpIssuer::NewEcKey("k"),
                                                    "ES256", {{"crit", R"(["b64"])"}}));
  EXPECT_THAT(Message(critical.status()), HasSubstr("critical"));
}

TEST(JwtTest, KeysThatAreNoneAreLeftOut) {
  const std::string good = MadeUpIssuer::PublicText(MadeUpIssuer::NewEcKey("good"));
  const auto keys = ParseKeySet(absl::StrCat(
      R"({"keys": [7, {}, {"kty": "oct", "k": "c2VjcmV0"}, {"kty": "OKP", "crv": "Ed25519", "x": "AA"}, )",
      R"({"kty": "RSA", "kid": "small", "e": "AQAB", "n": "wQ"}, )",
      Json::parse(good).patch(Json::parse(R"([{"op": "add", "path": "/use", "value": "enc"}])")).dump(), ",",
      good, "]}"));
  ASSERT_TRUE(keys.ok()) << keys.status();
  ASSERT_EQ(keys->size(), 1);
  EXPECT_EQ(keys->front().id, "good");
  for (const std::string& text : {std::string("{}"), std::string("[]"), std::string(R"({"keys": []})"),
                                  absl::StrCat(R"({"keys": )", Json(std::vector<int>(33, 7)).dump(), "}")})
    EXPECT_TRUE(absl::IsInvalidArgument(ParseKeySet(text).status())) << text;
}

TEST(JwtTest, ClaimsCountForUsAndNow) {
  const JwtExpectations expected = {
      .issuer = MadeUpIssuer::kUrl, .audiences = {"page", "cli"}, .nonce = "n", .skew_ms = 60'000};
  const int64_t now_ms = SystemClock().WallMillis(), now = now_ms / 1000;
  Json good = MadeUpIssuer::Claims();
  good["nonce"] = "n";
  const auto with = [&](const char* name, const Json& value) {
    Json claims = good;
    if (value.is_null()) claims.erase(name);
    if (!value.is_null()) claims[name] = value;
    return Message(CheckClaims(claims, expected, now_ms));
  };
  EXPECT_EQ(with("aud", "page"), "");
  EXPECT_EQ(with("aud", {"other", "cli"}), "");
  EXPECT_EQ(with("exp", now - 50), "");
  EXPECT_EQ(with("nbf", now + 50), "");
  EXPECT_EQ(with("exp", static_cast<double>(now) + 0.5), "");
  EXPECT_THAT(with("exp", now - 61), HasSubstr("expired"));
  for (const Json& none : {Json(), Json("later"), Json(-1), Json(1e300)})
    EXPECT_THAT(with("exp", none), HasSubstr("no expiry time"));
  EXPECT_THAT(with("nbf", now + 61), HasSubstr("not valid yet"));
  EXPECT_THAT(with("iat", now + 61), HasSubstr("not valid yet"));
  for (const Json& other : {Json(), Json("other"), Json({"other"}), Json(7), Json::object()})
    EXPECT_THAT(with("aud", other), HasSubstr("another audience"));
  for (const Json& other : {Json(), Json("https://id.example.org/"), Json({MadeUpIssuer::kUrl})})
    EXPECT_THAT(with("iss", other), HasSubstr("another issuer"));
  EXPECT_THAT(with("sub", Json()), HasSubstr("no subject"));
  EXPECT_THAT(with("nonce", "m"), HasSubstr("another login"));
  EXPECT_THAT(with("nonce", Json()), HasSubstr("another login"));
}

}  // namespace
}  // namespace attune
