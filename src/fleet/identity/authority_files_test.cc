#include "fleet/identity/authority_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <utility>

#include "base/testing/manual_clock.h"
#include "base/testing/temporary_folder.h"
#include "fleet/identity/pem_file.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

const std::vector<std::string> kHosts = {"localhost", "127.0.0.1"};

std::string SignedBy(const CertificateAuthority& authority) {
  const FleetIdentity who = {.role = FleetRole::kAgent, .owner = "ann", .id = "board-1"};
  return *authority.Sign(*PrivateKey::Generate()->Request(), who, 86400);
}

std::string Leaf(const ServerTls& tls) { return SplitPem(tls.chain_pem)->certificates.at(0); }

class AuthorityFilesTest : public ::testing::Test {
 protected:
  AuthorityFiles Open(const Clock& clock = SystemClock()) const {
    auto files = AuthorityFiles::OpenOrCreate(folder_, clock);
    EXPECT_TRUE(files.ok()) << files.status();
    return *std::move(files);
  }
  static std::filesystem::perms Permissions(const std::string& path) {
    return std::filesystem::status(path).permissions();
  }

  const testing::TemporaryFolder temporary_;
  const std::string folder_ = temporary_ / "state/fleet";
  const std::string authorities_ = folder_ + "/authorities.pem", server_ = folder_ + "/server.pem";
};

TEST_F(AuthorityFilesTest, AnAuthorityIsMadeOnce) {
  const AuthorityFiles made = Open(), read = Open();
  EXPECT_EQ(made.TrustedPem(), read.TrustedPem());
  EXPECT_EQ(made.TrustedPem(), made.signer().certificate_pem());
  EXPECT_TRUE(VerifyCertificate(SignedBy(read.signer()), made.TrustedPem()).ok());
}

TEST_F(AuthorityFilesTest, OnlyTheirOwnerReadsThem) {
  ASSERT_TRUE(Open().ServerTlsFor(kHosts).ok());
  EXPECT_EQ(Permissions(folder_), std::filesystem::perms(0700));
  EXPECT_EQ(Permissions(authorities_), std::filesystem::perms(0600));
  EXPECT_EQ(Permissions(server_), std::filesystem::perms(0600));
  ASSERT_EQ(chmod(authorities_.c_str(), 0644), 0);
  EXPECT_EQ(AuthorityFiles::OpenOrCreate(folder_).status().code(), absl::StatusCode::kPermissionDenied);
}

TEST_F(AuthorityFilesTest, ADamagedAuthorityIsNotReplacedSilently) {
  Open();
  const std::uintmax_t size = std::filesystem::file_size(authorities_);
  for (const std::uintmax_t shorter : {size - 1, size / 2, std::uintmax_t{0}}) {
    std::filesystem::resize_file(authorities_, shorter);
    const absl::Status damaged = AuthorityFiles::OpenOrCreate(folder_).status();
    EXPECT_THAT(std::string(damaged.message()), HasSubstr(authorities_));
  }
}

TEST_F(AuthorityFilesTest, BothAreTrustedDuringAReplacement) {
  AuthorityFiles files = Open();
  const std::string old_trust = files.TrustedPem(), old_certificate = SignedBy(files.signer());
  ASSERT_TRUE(files.BeginReplacement().ok());
  for (const AuthorityFiles& during : {std::move(files), Open()}) {
    EXPECT_TRUE(during.is_being_replaced());
    EXPECT_THAT(SplitPem(during.TrustedPem())->certificates, SizeIs(2));
    const std::string new_certificate = SignedBy(during.signer());
    EXPECT_TRUE(VerifyCertificate(old_certificate, during.TrustedPem()).ok());
    EXPECT_TRUE(VerifyCertificate(new_certificate, during.TrustedPem()).ok());
    EXPECT_FALSE(VerifyCertificate(new_certificate, old_trust).ok());
    // Agents that have not heard of the new authority still accept the server.
    EXPECT_TRUE(VerifyCertificate(Leaf(*during.ServerTlsFor(kHosts)), old_trust).ok());
  }
}

TEST_F(AuthorityFilesTest, OnlyTheNewOneIsTrustedAfterAReplacement) {
  AuthorityFiles files = Open();
  const std::string old_trust = files.TrustedPem();
  EXPECT_EQ(files.EndReplacement().code(), absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(files.ServerTlsFor(kHosts).ok());
  ASSERT_TRUE(files.BeginReplacement().ok());
  EXPECT_EQ(files.BeginReplacement().code(), absl::StatusCode::kFailedPrecondition);
  const std::string new_certificate = SignedBy(files.signer());
  ASSERT_TRUE(files.EndReplacement().ok());
  EXPECT_EQ(Open().TrustedPem(), files.TrustedPem());
  EXPECT_TRUE(VerifyCertificate(new_certificate, files.TrustedPem()).ok());
  const std::string server = Leaf(*files.ServerTlsFor(kHosts));
  EXPECT_TRUE(VerifyCertificate(server, files.TrustedPem()).ok());
  EXPECT_FALSE(VerifyCertificate(server, old_trust).ok());
}

TEST_F(AuthorityFilesTest, TheServerShowsItsAuthority) {
  const AuthorityFiles files = Open();
  const auto tls = files.ServerTlsFor(kHosts);
  ASSERT_TRUE(tls.ok()) << tls.status();
  EXPECT_EQ(tls->chain_pem, Leaf(*tls) + files.servers_signer().certificate_pem());
  EXPECT_EQ(ReadCertificate(Leaf(*tls))->who.role, FleetRole::kServer);
  EXPECT_TRUE(PrivateKey::Read(tls->key_pem)->CheckIsKeyOf(tls->chain_pem).ok());
}

TEST_F(AuthorityFilesTest, TheServersCertificateIsMadeAnewWhereItMust) {
  ManualClock clock;
  const AuthorityFiles files = Open(clock);
  std::string last = files.ServerTlsFor(kHosts)->key_pem;
  const auto changes = [&](const std::vector<std::string>& hosts) {
    const auto tls = Open(clock).ServerTlsFor(hosts);
    EXPECT_TRUE(tls.ok()) << tls.status();
    const std::string before = std::exchange(last, tls->key_pem);
    return last != before;
  };
  EXPECT_FALSE(changes(kHosts));
  EXPECT_TRUE(changes({"localhost"}));
  EXPECT_FALSE(changes({"localhost"}));
  clock.Advance(59 * 86400.0);
  EXPECT_FALSE(changes({"localhost"}));
  clock.Advance(2 * 86400.0);
  EXPECT_TRUE(changes({"localhost"}));
  std::filesystem::resize_file(server_, std::filesystem::file_size(server_) / 2);
  EXPECT_TRUE(changes({"localhost"}));
  ASSERT_EQ(chmod(server_.c_str(), 0644), 0);
  EXPECT_TRUE(changes({"localhost"}));
  EXPECT_FALSE(changes({"localhost"}));
  EXPECT_EQ(Permissions(server_), std::filesystem::perms(0600));
}

TEST_F(AuthorityFilesTest, NoKeyIsWrittenThroughALink) {
  const AuthorityFiles files = Open();
  const std::string victim = temporary_ / "victim";
  std::filesystem::create_symlink(victim, server_);
  const absl::Status refused = files.ServerTlsFor(kHosts).status();
  EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
  EXPECT_FALSE(std::filesystem::exists(victim));
}

TEST_F(AuthorityFilesTest, RefusesHostsThatNoCertificateCanName) {
  const AuthorityFiles files = Open();
  EXPECT_FALSE(files.ServerTlsFor({}).ok());
  EXPECT_FALSE(files.ServerTlsFor({"a b"}).ok());
  EXPECT_FALSE(std::filesystem::exists(server_));
}

}  // namespace
}  // namespace attune
