#include "fleet/server/fleet_housekeeping.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/testing/await_that.h"
#include "base/testing/temporary_folder.h"
#include "fleet/server/mailbox.h"
#include "fleet/wire/fleet.pb.h"

namespace attune {
namespace {

using Mail = std::shared_ptr<Mailbox<fleet_proto::ToAgent>>;

class FleetHousekeepingTest : public ::testing::Test {
 protected:
  CertificateFacts Member(const std::string& id, const std::string& authority) const {
    return {.who = {.role = FleetRole::kAgent, .owner = "ann", .id = id},
            .serial = "0a" + id,
            .begin_ms = 0,
            .end_ms = INT64_MAX,
            .authority = authority};
  }
  Mail Connect(const std::string& id, const std::string& authority) {
    const Mail mail = std::make_shared<Mailbox<fleet_proto::ToAgent>>();
    state_->dispatcher->AddAgent(Member(id, authority), mail);
    return mail;
  }

  const testing::TemporaryFolder folder_;
  const std::unique_ptr<FleetServerState> state_ = *FleetServerState::Open({.folder = folder_ / "server"});
  const std::string authority_ = state_->authority->SignerId();
  ServerCertificates certificates_{folder_ / "server", "127.0.0.1", *state_->admission};
  ServiceForMembers beside_;
  FleetHousekeeping housekeeping_{*state_, certificates_, beside_};
};

TEST_F(FleetHousekeepingTest, ConnectionsByCertificatesThatCountNoMoreAreClosed) {
  const Mail valid = Connect("1", authority_), revoked = Connect("2", authority_), old = Connect("3", "old");
  std::optional<absl::Status> beside;  // why a member that is connected to the service beside is refused
  beside_.close = [&](const MemberRefusal& refusal) { beside = refusal(Member("2", authority_)); };
  for (const char* id : {"1", "2"}) ASSERT_TRUE(state_->store->AddCertificate(Member(id, authority_)).ok());
  housekeeping_.CloseRefused();
  EXPECT_EQ(valid->closed(), std::nullopt);
  EXPECT_EQ(revoked->closed(), std::nullopt);
  EXPECT_EQ(beside, absl::OkStatus());
  ASSERT_TRUE(old->closed());
  EXPECT_TRUE(absl::IsUnavailable(*old->closed()));
  ASSERT_TRUE(state_->store->RevokeIdentity("2", {.reason = "it was sold"}).ok());
  housekeeping_.CloseRefused();
  EXPECT_EQ(valid->closed(), std::nullopt);
  EXPECT_EQ(revoked->closed(), CertificateIsRevoked());
  EXPECT_EQ(beside, CertificateIsRevoked());
}

TEST_F(FleetHousekeepingTest, ItsThreadLetsTimePass) {
  ASSERT_TRUE(certificates_.WriteServers().ok());
  state_->admission->SetAddresses("127.0.0.1:1", "127.0.0.1:2");
  const Mail old = Connect("1", "old");
  ASSERT_TRUE(housekeeping_.Begin().ok());
  testing::AwaitThat([&] { return old->closed().has_value(); });
  housekeeping_.Stop();
  housekeeping_.Stop();
}

}  // namespace
}  // namespace attune
