#include "fleet/admission/fleet_authority.h"

#include <gtest/gtest.h>

#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

CertificateFacts SignedBy(const FleetAuthority& authority) {
  const FleetIdentity who = {.role = FleetRole::kAgent, .owner = "ann", .id = "board"};
  return *ReadCertificate(*authority.Sign(*PrivateKey::Generate()->Request(), who, 3600));
}

TEST(FleetAuthority, TheNewOneSignsOnceTheServerAcceptsIt) {
  const testing::TemporaryFolder folder;
  FleetAuthority authority(*AuthorityFiles::OpenOrCreate(folder / "state"));
  EXPECT_TRUE(authority.AwaitServer(After(0)).ok());
  EXPECT_EQ(authority.times().replaced_from_ms, std::nullopt);
  const std::string old_trust = authority.TrustedPem();
  const CertificateFacts old = SignedBy(authority);
  EXPECT_EQ(old.authority, authority.SignerId());
  ASSERT_TRUE(authority.BeginReplacement().ok());
  EXPECT_NE(authority.times().replaced_from_ms, std::nullopt);
  EXPECT_EQ(SignedBy(authority).authority, old.authority);
  EXPECT_NE(authority.NewestId(), old.authority);
  authority.ServerAccepts(old_trust);  // it has not read the new one yet
  EXPECT_TRUE(absl::IsDeadlineExceeded(authority.AwaitServer(After(0))));
  authority.ServerAccepts(authority.TrustedPem());
  EXPECT_TRUE(authority.AwaitServer(After(0)).ok());
  const CertificateFacts renewed = SignedBy(authority);
  EXPECT_EQ(renewed.authority, authority.NewestId());
  EXPECT_TRUE(authority.Check(old).ok());
  ASSERT_TRUE(authority.EndReplacement().ok());
  EXPECT_TRUE(absl::IsPermissionDenied(authority.Check(old)));
  EXPECT_TRUE(authority.Check(renewed).ok());
  EXPECT_TRUE(absl::IsDeadlineExceeded(authority.AwaitServer(After(0))));
  EXPECT_EQ(authority.times().replaced_from_ms, std::nullopt);
}

}  // namespace
}  // namespace attune
