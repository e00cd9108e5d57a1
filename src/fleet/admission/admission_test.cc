#include "fleet/admission/admission.h"

#include <gtest/gtest.h>

#include <memory>

#include "absl/strings/str_cat.h"
#include "base/sqlite/sqlite.h"
#include "base/testing/manual_clock.h"
#include "base/testing/temporary_folder.h"
#include "fleet/store/fleet_store.h"

namespace attune {
namespace {

constexpr double kHours = 3600;

class AdmissionTest : public ::testing::Test {
 protected:
  absl::StatusOr<fleet_proto::Certificate> Enrol(const Invitation& invitation) {
    fleet_proto::EnrolRequest request;
    request.set_secret(invitation.secret);
    request.set_certificate_request(*PrivateKey::Generate()->Request());
    return admission_.Enrol(request);
  }
  Invitation Invite() { return *admission_.Invite(FleetRole::kAgent, "ann"); }
  // The credentials of a new member.
  CertificateFacts NewCertificate() {
    const auto certificate = Enrol(Invite());
    EXPECT_TRUE(certificate.ok()) << certificate.status();
    return *ReadCertificate(certificate->certificate());
  }
  bool IsKnown(const CertificateFacts& facts) { return store_->FindCertificate(facts.serial)->has_value(); }

  const testing::TemporaryFolder folder_;
  ManualClock clock_;
  const std::unique_ptr<FleetStore> store_ = *FleetStore::Open(folder_ / "fleet.db");
  FleetAuthority authority_{*AuthorityFiles::OpenOrCreate(folder_ / "state", clock_), clock_};
  Admission admission_{authority_, *store_, clock_};
};

TEST_F(AdmissionTest, AnInvitationCountsForTenMinutes) {
  const Invitation invitation = Invite(), other = Invite();
  clock_.Advance(kInvitationSeconds - 1);
  EXPECT_TRUE(Enrol(invitation).ok());
  clock_.Advance(1);
  EXPECT_TRUE(absl::IsPermissionDenied(Enrol(other).status()));
}

TEST_F(AdmissionTest, AWallClockThatIsSetBackDoesNotProlongAnInvitation) {
  const Invitation invitation = Invite(), other = Invite();
  clock_.JumpWall(-5 * kHours);
  EXPECT_TRUE(Enrol(invitation).ok());
  clock_.Advance(kInvitationSeconds);
  EXPECT_TRUE(absl::IsPermissionDenied(Enrol(other).status()));
}

TEST_F(AdmissionTest, AWallClockThatIsSetForwardEndsInvitationsAndNothingElse) {
  const Invitation invitation = Invite();
  clock_.JumpWall(5 * kHours);
  EXPECT_TRUE(absl::IsPermissionDenied(Enrol(invitation).status()));
  EXPECT_TRUE(Enrol(Invite()).ok());
}

TEST_F(AdmissionTest, ARevokedCertificateIsRefusedAtOnce) {
  const CertificateFacts facts = NewCertificate(), other = NewCertificate();
  EXPECT_TRUE(admission_.Check(facts).ok());
  // By another server.
  const auto elsewhere = *FleetStore::Open(folder_ / "fleet.db");
  ASSERT_TRUE(elsewhere->RevokeIdentity(facts.who.id, {.reason = "test"}).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(admission_.Check(facts)));
  EXPECT_TRUE(admission_.Check(other).ok());
}

// So no other member's certificate is looked at, however many there are.
TEST_F(AdmissionTest, ADamagedRowRefusesItsOwnCertificateAlone) {
  const CertificateFacts damaged = NewCertificate(), other = NewCertificate();
  ASSERT_TRUE(store_->RevokeIdentity(damaged.who.id, {.reason = "test"}).ok());
  const auto connection = SqliteConnection::Open(folder_ / "fleet.db", {});
  ASSERT_TRUE(connection.ok()) << connection.status();
  ASSERT_TRUE((*connection)
                  ->Execute(absl::StrCat("UPDATE certificates SET role = 'king' WHERE serial = '",
                                         damaged.serial, "'"))
                  .ok());
  EXPECT_TRUE(absl::IsDataLoss(admission_.Check(damaged)));
  EXPECT_TRUE(admission_.Check(other).ok());
}

TEST_F(AdmissionTest, CertificatesThatHaveEndedAreForgotten) {
  const CertificateFacts first = NewCertificate();
  ASSERT_TRUE(store_->RevokeIdentity(first.who.id, {.reason = "test"}).ok());
  clock_.Advance(kCertificateSeconds + 23 * kHours);
  const CertificateFacts second = NewCertificate();
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(admission_.ForgetEnded().ok());
  EXPECT_TRUE(IsKnown(first));
  clock_.Advance(2 * kHours);
  EXPECT_TRUE(admission_.ForgetEnded().ok());
  clock_.Advance(kHours);
  EXPECT_TRUE(admission_.ForgetEnded().ok());
  EXPECT_FALSE(IsKnown(first));
  EXPECT_TRUE(IsKnown(second));
}

TEST_F(AdmissionTest, AWallClockThatIsSetForwardForAMomentUndoesNoRevocation) {
  const CertificateFacts facts = NewCertificate();
  ASSERT_TRUE(store_->RevokeIdentity(facts.who.id, {.reason = "test"}).ok());
  EXPECT_TRUE(admission_.ForgetEnded().ok());
  clock_.JumpWall(3 * kCertificateSeconds);
  EXPECT_TRUE(admission_.ForgetEnded().ok());
  clock_.JumpWall(-3 * kCertificateSeconds);
  EXPECT_TRUE(admission_.ForgetEnded().ok());
  EXPECT_TRUE(absl::IsPermissionDenied(admission_.Check(facts)));
}

TEST_F(AdmissionTest, TheServersOperatorIsTheSameMember) {
  const auto first = admission_.OperatorCredentials(), second = admission_.OperatorCredentials();
  EXPECT_EQ(ReadCertificate(first->certificate_pem)->who, ReadCertificate(second->certificate_pem)->who);
  EXPECT_NE(first->key_pem, second->key_pem);
}

TEST_F(AdmissionTest, AMemberRenewsItsCertificateNowAndThen) {
  const FleetIdentity who = {.role = FleetRole::kAgent, .owner = "ann", .id = "agent-1"};
  FleetIdentity other = who;
  other.id = "agent-2";
  fleet_proto::RenewRequest request;
  request.set_certificate_request(*PrivateKey::Generate()->Request());
  constexpr int kTimes = 20;
  for (int i = 0; i < kTimes; ++i) EXPECT_TRUE(admission_.Renew(who, request).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(admission_.Renew(who, request).status()));
  EXPECT_TRUE(admission_.Renew(other, request).ok());
  clock_.Advance(kHours);
  EXPECT_TRUE(admission_.Renew(who, request).ok());
  EXPECT_FALSE(admission_.Renew(who, request).ok());
}

}  // namespace
}  // namespace attune
