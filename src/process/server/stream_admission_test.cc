#include "service/rest/stream_admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/testing/await_that.h"
#include "base/testing/manual_clock.h"
#include "process/server/rest_for_test.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

class StreamAdmissionTest : public RestTest {
 protected:
  std::shared_ptr<EventStream> Follow(const std::string& token) {
    const HttpResponse response = Ask(token, "GET", "/v1/events");
    EXPECT_EQ(response.status, 200) << response.body;
    return response.events;
  }
  std::string IdOf(const std::string& token) {
    return (**store_->FindToken(DigestOfToken(token), SystemClock().WallMillis())).id;
  }

  std::vector<std::shared_ptr<EventStream>> streams_;
};

TEST_F(StreamAdmissionTest, ATokenATenantAndAllHaveAtMostSoMany) {
  StreamAdmission streams(callers_, {.of_token = 2, .of_tenant = 3, .in_all = 4});
  const auto admit = [&](const std::string& id, const std::string& tenant) {
    return streams.Admit({}, {.id = id, .tenant = tenant}, AccessRole::kViewer,
                         streams_.emplace_back(std::make_shared<EventStream>()));
  };
  EXPECT_FALSE(admit("a", "ann"));
  EXPECT_FALSE(admit("a", "ann"));
  const auto refused = admit("a", "ann");
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 429);
  EXPECT_THAT(refused->body, HasSubstr("this token has 2 streams of events already"));
  EXPECT_TRUE(streams_.back()->is_closed());
  EXPECT_FALSE(admit("b", "ann"));
  EXPECT_THAT(admit("b", "ann")->body, HasSubstr("this tenant has 3 "));
  EXPECT_FALSE(admit("c", "bob"));
  EXPECT_THAT(admit("d", "eve")->body, HasSubstr("the server has 4 "));
  EXPECT_EQ(streams.refused(), 3);
  // There is room again for one that has ended.
  streams_.front()->Close();
  EXPECT_FALSE(admit("a", "ann"));
}

TEST_F(StreamAdmissionTest, TheGateCountsStreamsOfJobsAndOfTenants) {
  const std::string viewer = Token("ann", AccessRole::kViewer), other = Token("bob", AccessRole::kViewer);
  const StreamLimits limits;
  for (int i = 0; i < limits.of_token; ++i) streams_.push_back(Follow(viewer));
  EXPECT_EQ(Ask(viewer, "GET", "/v1/events").status, 429);
  EXPECT_EQ(Ask(viewer, "GET", "/v1/jobs").status, 200);
  EXPECT_NE(Follow(other), nullptr);
}

TEST_F(StreamAdmissionTest, ARevokedTokensStreamsEnd) {
  const std::string boss = Token("server", AccessRole::kAdmin);
  const std::string revoked = Token("ann", AccessRole::kViewer), stays = Token("ann", AccessRole::kViewer);
  const auto ends = Follow(revoked), lives = Follow(stays);
  gate_.streams().LookAgain();
  EXPECT_FALSE(ends->is_closed());
  EXPECT_EQ(Ask(boss, "DELETE", "/v1/tokens/" + IdOf(revoked)).status, 204);
  gate_.streams().LookAgain();
  EXPECT_TRUE(ends->is_closed());
  EXPECT_FALSE(lives->is_closed());
  // The server looks by itself, too.
  ASSERT_TRUE(gate_.streams().Begin().ok());
  EXPECT_EQ(Ask(boss, "DELETE", "/v1/tokens/" + IdOf(stays)).status, 204);
  testing::AwaitThat([&] { return lives->is_closed(); });
}

TEST_F(StreamAdmissionTest, AnExpiredTokensStreamsEnd) {
  ManualClock clock;
  Callers callers({.tokens = *store_, .people = *people_, .audit = audit_log_}, clock);
  StreamAdmission streams(callers, {});
  const AccessToken token = {.id = *NewId(),
                             .name = "test",
                             .tenant = "ann",
                             .created_ms = clock.WallMillis(),
                             .expires_ms = clock.WallMillis() + 5000};
  const std::string text = *NewTokenText();
  ASSERT_TRUE(store_->AddToken(token, DigestOfToken(text)).ok());
  const auto stream = std::make_shared<EventStream>();
  EXPECT_FALSE(
      streams.Admit({.headers = {{"authorization", "Bearer " + text}}}, token, AccessRole::kViewer, stream));
  streams.LookAgain();
  EXPECT_FALSE(stream->is_closed());
  clock.Advance(10);
  streams.LookAgain();
  EXPECT_TRUE(stream->is_closed());
}

TEST_F(StreamAdmissionTest, StreamsOfASessionEndWithIt) {
  const HttpResponse begun = Post("", "/v1/session", {{"token", Token("ann", AccessRole::kViewer)}});
  const std::string cookie = begun.headers.at("Set-Cookie");
  const Headers browser = {{"cookie", cookie.substr(0, cookie.find(';'))},
                           {"x-csrf-token", Json::parse(begun.body)["csrf_token"]}};
  const HttpResponse followed = Ask("", "GET", "/v1/events", "", browser);
  ASSERT_NE(followed.events, nullptr) << followed.body;
  gate_.streams().LookAgain();
  EXPECT_FALSE(followed.events->is_closed());
  EXPECT_EQ(Ask("", "DELETE", "/v1/session", "", browser).status, 204);
  gate_.streams().LookAgain();
  EXPECT_TRUE(followed.events->is_closed());
}

}  // namespace
}  // namespace attune
