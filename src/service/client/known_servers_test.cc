#include "service/client/known_servers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/private_file.h"
#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

class KnownServersTest : public ::testing::Test {
 protected:
  KnownServers Load() const {
    auto servers = KnownServers::Load(path_);
    EXPECT_TRUE(servers.ok()) << servers.status();
    return *std::move(servers);
  }

  const testing::TemporaryFolder folder_;
  const std::string path_ = folder_.path() + "/attune/servers.json";
};

TEST_F(KnownServersTest, AreKeptForTheirUserAlone) {
  KnownServers servers = Load();
  EXPECT_FALSE(servers.Find());
  servers.Keep({.url = "https://a:9193", .token = "one", .trust = {.authorities_pem = "PEM"}});
  servers.Keep({.url = "http://127.0.0.1:1", .token = "two"});
  ASSERT_TRUE(servers.Save().ok());
  EXPECT_EQ(std::filesystem::status(path_).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  KnownServers known = Load();
  EXPECT_EQ(known.Find()->token, "two");
  EXPECT_EQ(known.Find("https://a:9193")->trust.authorities_pem, "PEM");
  EXPECT_FALSE(known.Find("https://b"));
  EXPECT_TRUE(known.Forget("http://127.0.0.1:1"));
  EXPECT_FALSE(known.Forget("http://127.0.0.1:1"));
  EXPECT_FALSE(known.Find());
}

TEST_F(KnownServersTest, ALoginIsRenewedWithoutBecomingTheUsualServer) {
  {
    auto servers = KnownServers::LoadToChange(path_);
    ASSERT_TRUE(servers.ok()) << servers.status();
    servers->Keep({.url = "https://a",
                   .token = "one",
                   .login = {.issuer = "https://i", .client_id = "cli", .refresh_token = "first"}});
    servers->Keep({.url = "https://b", .token = "two"});
    ASSERT_TRUE(servers->Save().ok());
  }
  auto servers = KnownServers::LoadToChange(path_);
  ASSERT_TRUE(servers.ok()) << servers.status();
  KnownServer renewed = servers->Find("https://a").value();
  EXPECT_EQ(renewed.login.issuer, "https://i");
  renewed.login.refresh_token = "second";
  servers->Update(renewed);
  ASSERT_TRUE(servers->Save().ok());
  EXPECT_EQ(Load().Find()->url, "https://b");
  EXPECT_EQ(Load().Find("https://a")->login.refresh_token, "second");
}

TEST_F(KnownServersTest, KeepsWhatOthersHaveWritten) {
  ASSERT_TRUE(MakePrivateFolder(folder_.path() + "/attune").ok());
  ASSERT_TRUE(
      WritePrivateFile(path_, R"({"more": 1, "servers": {"https://a": {"token": "t", "login": {"x": 2}}}})")
          .ok());
  KnownServers servers = Load();
  servers.Keep({.url = "https://a", .token = "new"});
  ASSERT_TRUE(servers.Save().ok());
  const auto text = ReadPrivateFile(path_, 10'000);
  EXPECT_THAT(*text, HasSubstr("\"more\": 1"));
  EXPECT_THAT(*text, HasSubstr("\"x\": 2"));
  EXPECT_EQ(Load().Find("https://a")->token, "new");
}

TEST_F(KnownServersTest, ADamagedFileIsRefused) {
  ASSERT_TRUE(MakePrivateFolder(folder_.path() + "/attune").ok());
  for (const char* text : {"", "[]", R"({"servers": 7})", "{"}) {
    ASSERT_TRUE(WritePrivateFile(path_, text).ok());
    EXPECT_THAT(KnownServers::Load(path_).status().message(), HasSubstr("is damaged")) << text;
  }
  ASSERT_TRUE(WritePrivateFile(path_, R"({"default": 1, "servers": {"https://a": 7}})").ok());
  EXPECT_FALSE(Load().Find("https://a"));
  std::filesystem::permissions(path_, std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  EXPECT_EQ(KnownServers::Load(path_).status().code(), absl::StatusCode::kPermissionDenied);
}

TEST(ServerUrl, IsEncryptedOrOfThisMachine) {
  EXPECT_EQ(*ServerUrl("https://Host:9193/"), "https://host:9193");
  for (const char* url : {"http://127.0.0.1:80", "http://localhost:1", "http://[::1]:2"})
    EXPECT_TRUE(ServerUrl(url).ok()) << url;
  EXPECT_THAT(ServerUrl("http://host:1").status().message(), HasSubstr("in the clear"));
  EXPECT_THAT(ServerUrl("http://127.evil.example").status().message(), HasSubstr("in the clear"));
  EXPECT_THAT(ServerUrl("https://host/v1").status().message(), HasSubstr("has no path"));
  EXPECT_FALSE(ServerUrl("host:1").ok());
}

}  // namespace
}  // namespace attune
