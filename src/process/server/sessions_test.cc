#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "process/server/rest_for_test.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class SessionsTest : public RestTest {
 protected:
  // The headers of a browser that has begun a session.
  Headers Begin(const std::string& token) {
    const HttpResponse begun = Post("", "/v1/session", {{"token", token}});
    EXPECT_EQ(begun.status, 201) << begun.body;
    if (begun.status != 201) return {};
    const std::string cookie = begun.headers.at("Set-Cookie");
    return {{"cookie", "other=1; " + cookie.substr(0, cookie.find(';'))},
            {"x-csrf-token", Json::parse(begun.body)["csrf_token"].get<std::string>()}};
  }
  static Headers Without(Headers headers, const std::string& name) {
    headers.erase(name);
    return headers;
  }
};

TEST_F(SessionsTest, ABrowserAsksByItsCookie) {
  const HttpResponse begun = Post("", "/v1/session", {{"token", Token("ann", AccessRole::kMember)}});
  const std::string cookie = begun.headers.at("Set-Cookie");
  EXPECT_THAT(cookie, StartsWith("attune_session=attune_"));
  for (const char* attribute : {"; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age=43200"})
    EXPECT_THAT(cookie, HasSubstr(attribute));
  const Headers browser = Begin(Token("ann", AccessRole::kMember));
  EXPECT_EQ(Json::parse(Ask("", "GET", "/v1/me", "", browser).body)["tenant"], "ann");
  const Json shown = Json::parse(Ask("", "GET", "/v1/session", "", browser).body);
  EXPECT_EQ(shown["role"], "member");
  EXPECT_EQ(shown["csrf_token"], browser.at("x-csrf-token"));
  EXPECT_EQ(Json::parse(Ask("", "GET", "/v1/session").body)["role"], nullptr);
  EXPECT_EQ(Post("", "/v1/session", {{"token", "attune_forged"}}).status, 401);
}

TEST_F(SessionsTest, ByTlsTheCookieIsForThisHostAlone) {
  Callers encrypted({.tokens = *store_, .people = *people_, .audit = audit_log_, .is_encrypted = true});
  const auto begun = encrypted.BeginByToken({}, Token("ann", AccessRole::kMember));
  ASSERT_TRUE(begun.ok()) << begun.status();
  EXPECT_THAT(begun->cookie, StartsWith("__Host-attune_session="));
  EXPECT_THAT(begun->cookie, HasSubstr("; Secure"));
}

TEST_F(SessionsTest, ServersOnOtherPortsHaveOtherCookies) {
  const Json login = {{"token", Token("ann", AccessRole::kMember)}};
  std::string cookies;
  for (const char* host : {"127.0.0.1:9293", "127.0.0.1:9193", "[::1]:9093", "localhost", "[::1]"}) {
    const HttpResponse begun = Post("", "/v1/session", login, {{"host", host}});
    const std::string cookie = begun.headers.at("Set-Cookie");
    absl::StrAppend(&cookies, cookies.empty() ? "" : "; ", cookie.substr(0, cookie.find(';')));
  }
  for (const char* name :
       {"attune_session_9293=", "attune_session_9193=", "attune_session_9093=", "attune_session="})
    EXPECT_THAT(cookies, HasSubstr(name));
  // Each server finds its own among all that the browser sends.
  const Headers at = {{"cookie", cookies}, {"host", "127.0.0.1:9193"}};
  EXPECT_EQ(Ask("", "GET", "/v1/me", "", at).status, 200);
  Headers leaving = at;
  leaving["x-csrf-token"] = Json::parse(Ask("", "GET", "/v1/session", "", at).body)["csrf_token"];
  const HttpResponse left = Ask("", "DELETE", "/v1/session", "", leaving);
  EXPECT_THAT(left.headers.at("Set-Cookie"), StartsWith("attune_session_9193=;"));
  EXPECT_EQ(Ask("", "GET", "/v1/me", "", at).status, 401);
  EXPECT_EQ(Ask("", "GET", "/v1/me", "", {{"cookie", cookies}, {"host", "127.0.0.1:9293"}}).status, 200);
  EXPECT_EQ(Ask("", "GET", "/v1/me", "", {{"cookie", cookies}, {"host", "127.0.0.1:1"}}).status, 401);
}

TEST_F(SessionsTest, AMutationTakesTheCsrfToken) {
  const Headers browser = Begin(Token("ann", AccessRole::kMember));
  EXPECT_EQ(Post("", "/v1/jobs", MockJob(), browser).status, 201);
  const HttpResponse refused = Post("", "/v1/jobs", MockJob(), Without(browser, "x-csrf-token"));
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(Detail(refused), HasSubstr("X-CSRF-Token"));
  Headers other = browser;
  other["x-csrf-token"] = Begin(Token("ann", AccessRole::kMember)).at("x-csrf-token");
  EXPECT_EQ(Post("", "/v1/jobs", MockJob(), other).status, 403);
  EXPECT_EQ(Ask("", "DELETE", "/v1/session", "", Without(browser, "x-csrf-token")).status, 403);
  // A token needs none, whatever cookies come with it.
  EXPECT_EQ(
      Post(Token("ann", AccessRole::kMember), "/v1/jobs", MockJob(), Without(browser, "x-csrf-token")).status,
      201);
}

TEST_F(SessionsTest, ABodyIsReadForThoseWhoMaySendIt) {
  const Headers browser = Begin(Token("ann", AccessRole::kMember));
  const auto refusal = [&](const Headers& headers) {
    return router_.Refusal({.method = "POST", .path = "/v1/jobs", .headers = headers});
  };
  EXPECT_FALSE(refusal(browser).has_value());
  EXPECT_EQ(refusal(Without(browser, "x-csrf-token"))->status, 403);
  EXPECT_EQ(refusal({})->status, 401);
}

TEST_F(SessionsTest, ASessionEndsWhenItIsToldTo) {
  const Headers browser = Begin(Token("ann", AccessRole::kViewer));
  const HttpResponse ended = Ask("", "DELETE", "/v1/session", "", browser);
  EXPECT_EQ(ended.status, 204);
  EXPECT_THAT(ended.headers.at("Set-Cookie"), HasSubstr("Max-Age=0"));
  EXPECT_EQ(Ask("", "GET", "/v1/me", "", browser).status, 401);
  EXPECT_EQ(Json::parse(Ask("", "GET", "/v1/session", "", browser).body)["name"], nullptr);
}

TEST_F(SessionsTest, ASessionEndsWithItsToken) {
  const std::string token = Token("ann", AccessRole::kOperator);
  const Headers browser = Begin(token);
  const std::string id = Get(token, "/v1/me")["id"];
  EXPECT_EQ(Ask("", "DELETE", "/v1/tokens/" + id, "", browser).status, 204);
  EXPECT_EQ(Ask("", "GET", "/v1/me", "", browser).status, 401);
}

TEST_F(SessionsTest, SessionsAreBoundedByTheirToken) {
  const std::string token = Token("ann", AccessRole::kViewer);
  const Headers first = Begin(token), other = Begin(Token("ann", AccessRole::kViewer));
  for (int64_t i = 0; i < kMostSessions; ++i) Begin(token);
  EXPECT_EQ(std::ssize(*people_->Sessions("ann", SystemClock().WallMillis())), kMostSessions + 1);
  EXPECT_EQ(Ask("", "GET", "/v1/me", "", first).status, 401);
  EXPECT_EQ(Ask("", "GET", "/v1/me", "", other).status, 200);
}

}  // namespace
}  // namespace attune
