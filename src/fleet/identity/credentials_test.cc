#include "fleet/identity/credentials.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "base/file.h"
#include "base/testing/manual_clock.h"
#include "base/testing/temporary_folder.h"
#include "fleet/identity/certificate.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr double kDay = 86400;

class CredentialsTest : public ::testing::Test {
 protected:
  FleetCredentials New() const {
    const auto key = PrivateKey::Generate();
    const FleetIdentity who = {.role = FleetRole::kAgent, .owner = "ann", .id = "board-1"};
    return {.server = "fleet.local:9444",
            .authorities_pem = authority_->certificate_pem(),
            .certificate_pem = *authority_->Sign(*key->Request(), who, kDay, {}, clock_),
            .key_pem = *key->Pem()};
  }
  absl::StatusOr<FleetCredentials> Load() const { return LoadCredentials(folder_, clock_); }
  std::string LoadError() const { return std::string(Load().status().message()); }
  std::string Written() const { return ReadFile(path_, 1 << 20).value_or(""); }
  // Leaves the file's mode as it is.
  void Overwrite(const std::string& text) const { std::ofstream(path_) << text; }

  const testing::TemporaryFolder temporary_;
  const std::string folder_ = temporary_ / "fleet";
  const std::string path_ = folder_ + "/credentials.pem";
  const absl::StatusOr<CertificateAuthority> authority_ = CertificateAuthority::Create();
  ManualClock clock_;
};

TEST_F(CredentialsTest, AreReadAgain) {
  const absl::StatusOr<CertificateAuthority> next = CertificateAuthority::Create();
  FleetCredentials saved = New();
  saved.authorities_pem += next->certificate_pem();
  ASSERT_TRUE(SaveCredentials(folder_, saved).ok());
  const auto loaded = Load();
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  EXPECT_EQ(loaded->server, saved.server);
  EXPECT_EQ(loaded->authorities_pem, saved.authorities_pem);
  EXPECT_EQ(loaded->certificate_pem, saved.certificate_pem);
  EXPECT_EQ(loaded->key_pem, saved.key_pem);
  EXPECT_EQ(loaded->folder, folder_);
}

TEST_F(CredentialsTest, OnlyTheirOwnerReadsThem) {
  ASSERT_TRUE(SaveCredentials(folder_, New()).ok());
  EXPECT_EQ(std::filesystem::status(folder_).permissions(), std::filesystem::perms(0700));
  EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms(0600));
  ASSERT_EQ(chmod(path_.c_str(), 0644), 0);
  EXPECT_EQ(Load().status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(LoadError(), HasSubstr("chmod 600 " + path_));
}

TEST_F(CredentialsTest, ErrorsNameTheFileAndTheWayOut) {
  const auto is_helpful =
      AllOf(StartsWith(path_), EndsWith("enrol with attune fleet join --invitation-file -"));
  EXPECT_EQ(Load().status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(LoadError(), is_helpful);
  ASSERT_TRUE(SaveCredentials(folder_, New()).ok());
  const std::string text = Written();
  for (size_t size = 0; size < text.size(); size += 50) {
    Overwrite(text.substr(0, size));
    EXPECT_THAT(LoadError(), is_helpful) << size;
  }
  Overwrite("Attune fleet credentials 2" + text.substr(text.find('\n')));
  EXPECT_THAT(LoadError(), AllOf(is_helpful, HasSubstr("this version of Attune")));
}

TEST_F(CredentialsTest, EndWithTheirCertificate) {
  ASSERT_TRUE(SaveCredentials(folder_, New()).ok());
  clock_.Advance(kDay - 1);
  EXPECT_TRUE(Load().ok());
  clock_.Advance(2);
  EXPECT_THAT(LoadError(), HasSubstr("has ended; enrol"));
}

TEST_F(CredentialsTest, BadOnesDoNotReplaceGoodOnes) {
  const FleetCredentials good = New(), other = New();
  ASSERT_TRUE(SaveCredentials(folder_, good).ok());
  FleetCredentials keys_differ = good, no_authority = good, no_server = good, two_lines = good;
  keys_differ.key_pem = other.key_pem;
  no_authority.authorities_pem = "";
  no_server.server = "";
  two_lines.server = "fleet.local:9444\nserver: other:9444";
  for (const FleetCredentials& bad : {keys_differ, no_authority, no_server, two_lines, FleetCredentials{}})
    EXPECT_FALSE(SaveCredentials(folder_, bad).ok());
  EXPECT_EQ(Load()->key_pem, good.key_pem);
  ASSERT_TRUE(SaveCredentials(folder_, other).ok());
  EXPECT_EQ(Load()->key_pem, other.key_pem);
}

TEST_F(CredentialsTest, AreRenewedSoonerWhileThereAreTwoAuthorities) {
  const auto key = PrivateKey::Generate();
  const FleetIdentity who = {.role = FleetRole::kClient, .owner = "ann", .id = "ann-1"};
  FleetCredentials credentials = {
      .server = "fleet.local:9444",
      .authorities_pem = authority_->certificate_pem(),
      .certificate_pem = *authority_->Sign(*key->Request(), who, 30 * kDay, {}, clock_)};
  EXPECT_EQ(*RenewalMillis(credentials), RenewalMillis(*ReadCertificate(credentials.certificate_pem)));
  credentials.authorities_pem += CertificateAuthority::Create()->certificate_pem();
  EXPECT_GT(*RenewalMillis(credentials), clock_.WallMillis());
  EXPECT_LE(*RenewalMillis(credentials), clock_.WallMillis() + static_cast<int64_t>(1e3 * kDay));
}

TEST(DefaultCredentialsFolder, FollowsTheEnvironment) {
  std::map<std::string, std::string> variables;
  const auto environment = [&](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
  EXPECT_FALSE(DefaultCredentialsFolder(environment).ok());
  variables["HOME"] = "/home/me";
  EXPECT_EQ(DefaultCredentialsFolder(environment).value_or(""), "/home/me/.config/attune/fleet");
  variables["XDG_CONFIG_HOME"] = "/config";
  EXPECT_EQ(DefaultCredentialsFolder(environment).value_or(""), "/config/attune/fleet");
  variables["ATTUNE_FLEET"] = "/mine";
  EXPECT_EQ(DefaultCredentialsFolder(environment).value_or(""), "/mine");
}

}  // namespace
}  // namespace attune
