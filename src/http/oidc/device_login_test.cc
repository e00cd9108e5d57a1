#include "http/oidc/device_login.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "nlohmann/json.hpp"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

constexpr char kIssuer[] = "https://id.example.org";

// An issuer that answers what it was told to, one after the other.
class ScriptedIssuer final : public OidcFetcher {
 public:
  absl::StatusOr<OidcReply> Get(const std::string&) override {
    return OidcReply{.status = 200, .body = discovery.dump()};
  }
  absl::StatusOr<OidcReply> Post(const std::string& url, const OidcForm& form, const std::string&) override {
    posts.emplace_back(url, std::map<std::string, std::string>(form.begin(), form.end()));
    if (replies.empty()) return absl::UnavailableError("nobody answers");
    absl::StatusOr<OidcReply> reply = std::move(replies.front());
    replies.pop_front();
    return reply;
  }
  void Reply(int status, const Json& json) {
    replies.push_back(OidcReply{.status = status, .body = json.dump()});
  }

  Json discovery = {{"issuer", kIssuer},
                    {"authorization_endpoint", "https://id.example.org/auth"},
                    {"token_endpoint", "https://id.example.org/token"},
                    {"jwks_uri", "https://id.example.org/keys"},
                    {"device_authorization_endpoint", "https://id.example.org/device"}};
  std::deque<absl::StatusOr<OidcReply>> replies;
  std::vector<std::pair<std::string, std::map<std::string, std::string>>> posts;
};

class DeviceLoginTest : public ::testing::Test {
 protected:
  absl::StatusOr<IssuedTokens> LogIn() {
    waits_.clear();
    return LogInByDevice(
        client_,
        {.show = [&](const std::string& url, const std::string& code) { shown_ = url + " " + code; },
         .wait =
             [&](double seconds) {
               waits_.push_back(seconds);
               return waits_.size() < 20;
             }},
        issuer_);
  }
  void ReplyCode(const Json& more = Json::object()) {
    Json code = {{"device_code", "d"},
                 {"user_code", "AB-CD"},
                 {"verification_uri", "https://id.example.org/code"},
                 {"expires_in", 600},
                 {"interval", 2}};
    code.update(more);
    issuer_.Reply(200, code);
  }

  const DeviceClient client_ = {.issuer = kIssuer, .client_id = "cli", .scope = "openid"};
  ScriptedIssuer issuer_;
  std::string shown_;
  std::vector<double> waits_;
};

TEST_F(DeviceLoginTest, ACodeBecomesTokens) {
  ReplyCode();
  issuer_.Reply(400, {{"error", "authorization_pending"}});
  issuer_.Reply(400, {{"error", "slow_down"}});
  issuer_.replies.push_back(absl::UnavailableError("away"));
  issuer_.replies.push_back(OidcReply{.status = 502, .body = "<html>"});
  issuer_.Reply(200, {{"id_token", "t"}, {"refresh_token", "r"}});
  const auto tokens = LogIn();
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  EXPECT_EQ(tokens->token, "t");
  EXPECT_EQ(tokens->refresh_token, "r");
  EXPECT_EQ(shown_, "https://id.example.org/code AB-CD");
  EXPECT_THAT(waits_, ElementsAre(2, 2, 7, 7, 7));
  EXPECT_EQ(issuer_.posts[0].first, "https://id.example.org/device");
  EXPECT_EQ(issuer_.posts[0].second["scope"], "openid");
  EXPECT_EQ(issuer_.posts[1].second["device_code"], "d");
}

TEST_F(DeviceLoginTest, WhoeverRefusesOrDoesNothingIsNotLoggedIn) {
  ReplyCode();
  issuer_.Reply(400, {{"error", "access_denied"}, {"error_description", "no\x1b[2J"}});
  const auto refused = LogIn();
  EXPECT_TRUE(absl::IsUnauthenticated(refused.status()));
  EXPECT_EQ(refused.status().message().find('\x1b'), std::string_view::npos);
  ReplyCode({{"expires_in", 3}});
  EXPECT_TRUE(absl::IsDeadlineExceeded(LogIn().status()));
  ReplyCode({{"interval", 1e300}, {"expires_in", 1e300}});
  EXPECT_TRUE(absl::IsCancelled(LogIn().status()));
  issuer_.Reply(200, Json::object());
  EXPECT_THAT(std::string(LogIn().status().message()), HasSubstr("no code to log in by"));
  ReplyCode();
  issuer_.Reply(200, {{"access_token", "a"}});
  EXPECT_THAT(std::string(LogIn().status().message()), HasSubstr("no ID token"));
  issuer_.discovery.erase("device_authorization_endpoint");
  EXPECT_THAT(std::string(LogIn().status().message()), HasSubstr("no logins by device code"));
  issuer_.discovery["issuer"] = "https://other.example.org";
  EXPECT_FALSE(LogIn().ok());
}

TEST_F(DeviceLoginTest, TokensAreRefreshed) {
  issuer_.Reply(200, {{"id_token", "t2"}});
  EXPECT_EQ(RefreshTokens(client_, "r", issuer_)->refresh_token, "r");
  issuer_.Reply(200, {{"id_token", "t2"}, {"refresh_token", "r2"}});
  EXPECT_EQ(RefreshTokens(client_, "r", issuer_)->refresh_token, "r2");
  issuer_.Reply(400, {{"error", "invalid_grant"}});
  EXPECT_TRUE(absl::IsUnauthenticated(RefreshTokens(client_, "r", issuer_).status()));
  issuer_.Reply(503, {{"error", "temporarily_unavailable"}});
  EXPECT_TRUE(absl::IsUnavailable(RefreshTokens(client_, "r", issuer_).status()));
}

}  // namespace
}  // namespace attune
