#include "process/setup/kept_login.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "base/testing/temporary_folder.h"
#include "service/client/known_servers.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

class KeptLoginTest : public ::testing::Test {
 protected:
  void Keep(const KnownServer& server) const {
    auto known = KnownServers::LoadToChange(servers_);
    ASSERT_TRUE(known.ok()) << known.status();
    known->Keep(server);
    ASSERT_TRUE(known->Save().ok());
  }
  std::optional<KnownServer> Find(const std::string& url = "") const {
    const auto known = KnownServers::Load(servers_);
    EXPECT_TRUE(known.ok()) << known.status();
    return known->Find(url);
  }

  const testing::TemporaryFolder folder_;
  const std::string servers_ = folder_.path() + "/servers.json";
  const Installation installation_ = {.folder = folder_.path(), .http = "127.0.0.1:9193"};
};

TEST_F(KeptLoginTest, IsTheUsualOneUntilItIsForgotten) {
  ASSERT_TRUE(KeepLogin(installation_, "first", servers_).ok());
  EXPECT_EQ(Find()->url, "http://127.0.0.1:9193");
  EXPECT_EQ(Find()->token, "first");
  EXPECT_THAT(*ReadFile(installation_.LoginPath(), 1000), ::testing::Not(HasSubstr("\"first\"")));
  ASSERT_TRUE(ForgetLogin(installation_, servers_).ok());
  EXPECT_FALSE(Find());
  EXPECT_TRUE(ForgetLogin(installation_, servers_).ok());
}

TEST_F(KeptLoginTest, TheServerThatWasMeantBeforeIsMeantAgain) {
  Keep({.url = "https://lab", .token = "of the lab"});
  ASSERT_TRUE(KeepLogin(installation_, "first", servers_).ok());
  EXPECT_EQ(Find()->token, "first");
  ASSERT_TRUE(ForgetLogin(installation_, servers_).ok());
  EXPECT_EQ(Find()->token, "of the lab");
}

TEST_F(KeptLoginTest, AnotherLoginStays) {
  ASSERT_TRUE(KeepLogin(installation_, "first", servers_).ok());
  Keep({.url = "http://127.0.0.1:9193", .token = "of another installation"});
  ASSERT_TRUE(ForgetLogin(installation_, servers_).ok());
  EXPECT_EQ(Find()->token, "of another installation");
}

TEST_F(KeptLoginTest, AnotherServerThatIsMeantByNowStaysSo) {
  Keep({.url = "https://lab", .token = "of the lab"});
  ASSERT_TRUE(KeepLogin(installation_, "first", servers_).ok());
  Keep({.url = "https://house", .token = "of the house"});
  ASSERT_TRUE(ForgetLogin(installation_, servers_).ok());
  EXPECT_EQ(Find()->url, "https://house");
  EXPECT_FALSE(Find("http://127.0.0.1:9193"));
}

TEST_F(KeptLoginTest, WithTlsItNeedsTheCertificate) {
  Installation encrypted = installation_;
  encrypted.http_tls = {folder_.path() + "/chain.pem", folder_.path() + "/key.pem"};
  ASSERT_TRUE(WriteFileAtomically(encrypted.http_tls.front(), "no PEM").ok());
  EXPECT_THAT(KeepLogin(encrypted, "first", servers_).message(),
              HasSubstr("chain.pem: does not begin with a certificate"));
  EXPECT_FALSE(Find());
}

}  // namespace
}  // namespace attune
