// Who may do what in a fleet, over the loopback: enrolment, certificates, roles, and whose blobs are read.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "base/log.h"
#include "fleet/identity/invitation.h"
#include "fleet/identity/pinned_server.h"
#include "fleet/server/fleet_for_test.h"
#include "fleet/wire/channel.h"
#include "fleet/wire/fleet.grpc.pb.h"
#include "fleet/wire/rpc_status.h"

namespace attune {
namespace {

class FleetAccessTest : public ::testing::Test {
 protected:
  void SetUp() override { SetLogLevel(LogLevel::kError); }  // those who are refused are logged as warnings
  void TearDown() override { SetLogLevel(LogLevel::kWarning); }

  FleetOfTest fleet_;
};

TEST_F(FleetAccessTest, StrangersSendTheEnrolmentLittle) {
  const Invitation invitation = *Invitation::Parse(*fleet_.Operator()->Invite("agent", "eve"));
  const auto authority = AuthorityOf(invitation, kCallSeconds);
  ASSERT_TRUE(authority.ok()) << authority.status();
  const auto stub = fleet_proto::Enrolment::NewStub(ConnectEnrolment(invitation.address, *authority));
  fleet_proto::EnrolRequest request;
  fleet_proto::Certificate certificate;
  for (const size_t bytes : {size_t{32} << 20, size_t{20} << 10}) {
    grpc::ClientContext context;
    request.set_certificate_request(std::string(bytes, 'x'));
    const grpc::Status refused = stub->Enrol(&context, request, &certificate);
    EXPECT_EQ(refused.error_code(), bytes > (size_t{1} << 20) ? grpc::StatusCode::RESOURCE_EXHAUSTED
                                                              : grpc::StatusCode::INVALID_ARGUMENT);
  }
}

TEST_F(FleetAccessTest, EachRoleHasItsOwnRights) {
  const auto client = fleet_.Client("alice");
  EXPECT_TRUE(absl::IsPermissionDenied(client->Invite("agent", "alice").status()));
  EXPECT_TRUE(absl::IsPermissionDenied(client->Revoke("anybody", "why not")));
  FleetClient agent(fleet_.Enrol("agent", "bob"));
  EXPECT_TRUE(absl::IsPermissionDenied(agent.Send(*Blob::Of("a kernel"))));
  EXPECT_TRUE(absl::IsPermissionDenied(agent.Queue().status()));
}

TEST_F(FleetAccessTest, AnInvitationCountsOnce) {
  const Invitation invitation = *Invitation::Parse(*fleet_.Operator()->Invite("client", "alice"));
  EXPECT_TRUE(EnrolInFleet(invitation).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(EnrolInFleet(invitation).status()));
  Invitation other = invitation;
  other.secret = std::string(48, '0');
  EXPECT_TRUE(absl::IsPermissionDenied(EnrolInFleet(other).status()));
}

TEST_F(FleetAccessTest, NobodyWithoutACertificateGetsPastTls) {
  FleetCredentials stranger = fleet_.Enrol("client", "alice");
  const FleetCredentials known = stranger;
  stranger.certificate_pem.clear();
  stranger.key_pem.clear();
  const absl::Status without = FleetClient(stranger).Devices("").status();
  EXPECT_TRUE(absl::IsUnavailable(without)) << without;
  // A certificate of another authority.
  const auto authority = CertificateAuthority::Create();
  const auto key = PrivateKey::Generate();
  stranger.key_pem = *key->Pem();
  stranger.certificate_pem = *authority->Sign(
      *key->Request(), {.role = FleetRole::kOperator, .owner = "alice", .id = "mallory"}, 3600);
  EXPECT_TRUE(absl::IsUnavailable(FleetClient(stranger).Devices("").status()));
  EXPECT_TRUE(FleetClient(known).Devices("").ok());
}

TEST_F(FleetAccessTest, ARenewedCertificateIsAsGoodAsTheOld) {
  const FleetCredentials credentials = fleet_.Enrol("client", "alice");
  const auto renewed = RenewCredentials(credentials);
  ASSERT_TRUE(renewed.ok()) << renewed.status();
  EXPECT_NE(renewed->certificate_pem, credentials.certificate_pem);
  EXPECT_TRUE(FleetClient(*renewed).Devices("").ok());
}

TEST_F(FleetAccessTest, BlobsOfAnySizeMayBeSentTwice) {
  const FleetCredentials credentials = fleet_.Enrol("client", "alice");
  for (const size_t size : {size_t{0}, size_t{1000}, size_t{3} << 20}) {
    const Blob blob = *Blob::Of(std::string(size, 'x'));
    for (int i = 0; i < 2; ++i) {
      const absl::Status sent = FleetClient(credentials).Send(blob);
      EXPECT_TRUE(sent.ok()) << size << ": " << sent;
    }
  }
}

// A piece of a blob as an agent would read it.
absl::Status ReadBlobAs(const FleetCredentials& credentials, const std::string& digest) {
  const auto stub = fleet_proto::Fleet::NewStub(ConnectFleet(credentials));
  grpc::ClientContext context;
  fleet_proto::ReadBlobRequest request;
  request.mutable_token()->set_epoch(1);
  request.mutable_token()->set_number(1);
  request.set_digest(digest);
  const auto pieces = stub->ReadBlob(&context, request);
  fleet_proto::BlobPiece piece;
  while (pieces->Read(&piece)) {
  }
  return FromRpc(pieces->Finish());
}

TEST_F(FleetAccessTest, BlobsAreReadUnderALeaseOfTheirOwnerAlone) {
  const Blob blob = *Blob::Of("alice's kernel");
  ASSERT_TRUE(fleet_.Client("alice")->Send(blob).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(ReadBlobAs(fleet_.Enrol("agent", "bob"), blob.digest())));
  EXPECT_TRUE(absl::IsPermissionDenied(ReadBlobAs(fleet_.Enrol("client", "bob"), blob.digest())));
}

}  // namespace
}  // namespace attune
