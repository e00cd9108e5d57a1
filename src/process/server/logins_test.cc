#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_split.h"
#include "base/testing/await_that.h"
#include "http/target.h"
#include "process/server/rest_for_test.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// The service with an issuer, as people with its tokens see it.
class LoginsTest : public RestTest {
 protected:
  void SetUp() override {
    RestTest::SetUp();
    ASSERT_TRUE(logins_.Begin().ok());
    AwaitKeys();
  }
  void AwaitKeys() {
    const int before = issuer_.asked;
    testing::AwaitThat([&] { return issuer_.asked >= before + 4; });
  }
  HttpResponse Me(const std::string& token) { return Ask(token, "GET", "/v1/me"); }
  int Status(const Json& claims) { return Me(issuer_.Token(claims)).status; }
  static Json With(const char* name, const Json& value) {
    Json claims = MadeUpIssuer::Claims();
    claims[name] = value;
    return claims;
  }
};

TEST_F(LoginsTest, ATokenOfTheIssuerIsItsPerson) {
  const std::string token = issuer_.Token(MadeUpIssuer::Claims());
  const Json me = Get(token, "/v1/me");
  EXPECT_EQ(me["name"], "Ann");
  EXPECT_EQ(me["tenant"], "ann");
  EXPECT_EQ(me["role"], "member");
  EXPECT_EQ(Post(token, "/v1/jobs", MockJob()).status, 201);
  EXPECT_EQ(Ask(token, "GET", "/v1/tokens").status, 403);
  EXPECT_EQ(Ask(issuer_.Token(With("realm", {{"roles", {"tuner", "boss"}}})), "GET", "/v1/tokens").status,
            200);
}

TEST_F(LoginsTest, TokensThatDoNotCountAreRefused) {
  const int64_t now = SystemClock().WallMillis() / 1000;
  EXPECT_EQ(Status(MadeUpIssuer::Claims()), 200);
  EXPECT_EQ(Status(With("exp", now - 120)), 401);
  EXPECT_EQ(Status(With("aud", "somebody else's page")), 401);
  EXPECT_EQ(Status(With("iss", "https://other.example.org")), 401);
  EXPECT_EQ(Status(With("tenant", "a/b")), 401);
  EXPECT_EQ(Status(With("tenant", {"ann", "bob"})), 401);
  EXPECT_EQ(Status(With("tenant", nullptr)), 401);
  EXPECT_EQ(Status(With("realm", {{"roles", {"other"}}})), 401);
  EXPECT_EQ(Status(With("realm", {{"roles", {"admin"}}})), 401);
  // A key with the issuer's name that is not the issuer's.
  const auto forged = MadeUpIssuer::NewEcKey("first");
  EXPECT_EQ(Me(MadeUpIssuer::Sign(MadeUpIssuer::Claims(), forged)).status, 401);
  EXPECT_EQ(Me(MadeUpIssuer::Sign(MadeUpIssuer::Claims(), MadeUpIssuer::NewEcKey("unknown"))).status, 401);
  const auto secret = MadeUpIssuer::SecretKey(MadeUpIssuer::PublicText(issuer_.key()), "first");
  EXPECT_EQ(Me(MadeUpIssuer::Sign(MadeUpIssuer::Claims(), secret, "HS256")).status, 401);
  const std::string unsigned_token =
      absl::StrCat(absl::WebSafeBase64Escape(R"({"alg":"none"})"), ".",
                   absl::WebSafeBase64Escape(MadeUpIssuer::Claims().dump()), ".");
  EXPECT_EQ(Me(unsigned_token).status, 401);
  EXPECT_EQ(Me(With("x", std::string(9000, 'x')).dump()).status, 401);
  EXPECT_EQ(Me(issuer_.Token(With("x", std::string(9000, 'x')))).status, 401);
}

TEST_F(LoginsTest, KeysRotate) {
  const std::string before = issuer_.Token(MadeUpIssuer::Claims());
  EXPECT_EQ(Me(before).status, 200);
  issuer_.Rotate("second");
  const std::string after = issuer_.Token(MadeUpIssuer::Claims());
  testing::AwaitThat([&] { return Me(after).status == 200; });
  // The key is withdrawn.
  testing::AwaitThat([&] { return Me(before).status == 401; });
}

TEST_F(LoginsTest, AnOutageLocksNobodyOut) {
  const std::string token = issuer_.Token(MadeUpIssuer::Claims());
  issuer_.is_away = true;
  AwaitKeys();
  EXPECT_EQ(Me(token).status, 200);
  const HttpResponse unknown = Me(MadeUpIssuer::Sign(MadeUpIssuer::Claims(), MadeUpIssuer::NewEcKey("new")));
  EXPECT_EQ(unknown.status, 503);
  EXPECT_NE(unknown.headers.find("Retry-After"), unknown.headers.end());
  issuer_.is_away = false;
  issuer_.Publish("{}");
  AwaitKeys();
  EXPECT_EQ(Me(token).status, 200);
}

TEST_F(LoginsTest, UnknownKeysHaveTheIssuerAskedSeldom) {
  MadeUpIssuer counted;
  OidcLogins patient({.url = "https://a", .issuers = {MadeUpIssuer::Configured()}}, counted, SystemClock(),
                     {.refresh_seconds = 1000, .least_seconds = 1000, .wait_seconds = 0.01});
  ASSERT_TRUE(patient.Begin().ok());
  const std::string known = counted.Token(MadeUpIssuer::Claims());
  testing::AwaitThat([&] { return patient.Identify(known).ok(); });
  for (int i = 0; i < 100; ++i) {
    const auto key = MadeUpIssuer::NewEcKey(absl::StrCat(i));
    EXPECT_TRUE(
        absl::IsUnauthenticated(patient.Identify(MadeUpIssuer::Sign(MadeUpIssuer::Claims(), key)).status()));
  }
  EXPECT_EQ(counted.asked, 2);  // once, for both documents
}

TEST_F(LoginsTest, APersonIsLoggedOutAndBlocked) {
  Json claims = MadeUpIssuer::Claims();
  claims["iat"] = claims["iat"].get<int64_t>() - 10;
  const std::string token = issuer_.Token(claims), boss = Token("ann", AccessRole::kOperator);
  const std::string id = Get(token, "/v1/me")["id"];
  EXPECT_EQ(Get(boss, "/v1/people")["people"][0]["id"], id);
  const std::string path = "/v1/people/" + id + "/logout";
  EXPECT_EQ(Post(Token("bob", AccessRole::kOperator), path, {{"is_blocked", true}}).status, 404);
  EXPECT_EQ(Post(boss, path, {{"is_blocked", false}}).status, 204);
  EXPECT_THAT(Detail(Me(token)), HasSubstr("logged out"));
  claims["iat"] = SystemClock().WallMillis() / 1000 + 1;
  EXPECT_EQ(Status(claims), 200);
  EXPECT_EQ(Post(boss, path, {{"is_blocked", true}}).status, 204);
  EXPECT_EQ(Status(claims), 401);
  EXPECT_EQ(Post(boss, path, {{"is_blocked", false}}).status, 204);
  claims["iat"] = SystemClock().WallMillis() / 1000 + 1;
  EXPECT_EQ(Status(claims), 200);
}

// A browser that goes to the issuer and comes back.
class BrowserLoginTest : public LoginsTest {
 protected:
  using Query = std::map<std::string, std::string, std::less<>>;

  // Begins a login, and has the issuer's answer ready.
  void Begin(const std::string& audience = "page") {
    const HttpResponse sent = Ask("", "GET", "/v1/login?issuer=example");
    ASSERT_EQ(sent.status, 303) << sent.body;
    const std::string url = sent.headers.at("Location");
    EXPECT_THAT(url, StartsWith("https://id.example.org/auth?tenant=1&response_type=code&"));
    asked_ = ParseTarget(url.substr(url.find("/auth")))->query;
    cookie_ = sent.headers.at("Set-Cookie");
    EXPECT_THAT(cookie_, HasSubstr("SameSite=Lax"));
    Json claims = MadeUpIssuer::Claims(audience);
    claims["nonce"] = asked_["nonce"];
    Reply(claims);
  }
  void Reply(const Json& claims) {
    issuer_.reply = {.status = 200, .body = Json({{"id_token", issuer_.Token(claims)}}).dump()};
  }
  HttpResponse Return(const std::string& state, const std::string& more = "") {
    return Ask(
        "", "GET",
        absl::StrCat("/v1/login/callback?code=c&state=", absl::StrReplaceAll(state, {{"/", "%2F"}}), more),
        "", {{"cookie", cookie_.substr(0, cookie_.find(';'))}});
  }

  Query asked_;
  std::string cookie_;
};

TEST_F(BrowserLoginTest, ALoginBecomesASession) {
  Begin();
  EXPECT_EQ(asked_["redirect_uri"], "https://attune.example.org/v1/login/callback");
  const HttpResponse back = Return(asked_["state"], "&iss=https%3A%2F%2Fid.example.org");
  ASSERT_EQ(back.status, 303) << back.body;
  EXPECT_EQ(back.headers.at("Location"), "/");
  const std::string cookie = back.headers.at("Set-Cookie");
  const Headers browser = {{"cookie", cookie.substr(0, cookie.find(';'))}};
  const Json session = Json::parse(Ask("", "GET", "/v1/session", "", browser).body);
  EXPECT_EQ(session["tenant"], "ann");
  EXPECT_EQ(session["logins"][0]["path"], "/v1/login?issuer=example");
  // The code went to the issuer with what only this server knows.
  EXPECT_EQ(issuer_.posted_url, "https://id.example.org/token");
  EXPECT_EQ(issuer_.posted_authorization, "Basic " + absl::Base64Escape("page:secret"));
  EXPECT_EQ(issuer_.posted["code"], "c");
  const std::string verifier = issuer_.posted["code_verifier"];
  EXPECT_EQ(asked_["code_challenge"], absl::WebSafeBase64Escape(absl::HexStringToBytes(Sha256Hex(verifier))));
  // A session ends with its person's.
  const std::string boss = Token("ann", AccessRole::kOperator);
  const Json sessions = Get(boss, "/v1/sessions")["sessions"];
  EXPECT_EQ(Post(boss, absl::StrCat("/v1/people/", sessions[0]["person"].get<std::string>(), "/logout"),
                 {{"is_blocked", true}})
                .status,
            204);
  EXPECT_EQ(Ask("", "GET", "/v1/me", "", browser).status, 401);
  Begin();
  EXPECT_EQ(Return(asked_["state"]).status, 401);
}

TEST_F(BrowserLoginTest, ALoginThatWasBegunElsewhereEndsNowhere) {
  Begin();
  const std::string state = asked_["state"];
  EXPECT_EQ(Ask("", "GET", "/v1/login/callback?code=c&state=example%2Fx").status, 401);
  EXPECT_EQ(Return("example/" + std::string(64, '0')).status, 401);
  EXPECT_EQ(Return("other/x").status, 401);
  EXPECT_EQ(Return(state, "&iss=https%3A%2F%2Fother.example.org").status, 401);
  Begin();
  EXPECT_EQ(Return(state).status, 401);  // another browser's
  EXPECT_EQ(issuer_.posted_url, "");
  EXPECT_EQ(Ask("", "GET", "/v1/login/callback?error=access_denied").status, 401);
  EXPECT_EQ(Ask("", "GET", "/v1/login?issuer=none").status, 404);
}

TEST_F(BrowserLoginTest, TheAnswerMustBeForThisLogin) {
  Begin("cli");
  EXPECT_EQ(Return(asked_["state"]).status, 401);  // for another client
  Begin();
  Reply(MadeUpIssuer::Claims("page"));
  EXPECT_EQ(Return(asked_["state"]).status, 401);  // without the nonce
  Begin();
  issuer_.reply = {.status = 400, .body = R"({"error": "invalid_grant"})"};
  EXPECT_THAT(Detail(Return(asked_["state"])), HasSubstr("invalid_grant"));
  issuer_.reply = {.status = 200, .body = "<html>"};
  EXPECT_EQ(Return(asked_["state"]).status, 401);
  issuer_.reply = {.status = 502};
  EXPECT_EQ(Return(asked_["state"]).status, 503);
}

}  // namespace
}  // namespace attune
