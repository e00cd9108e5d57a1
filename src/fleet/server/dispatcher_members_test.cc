// Members whose certificates count no more, or not for long.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/testing/manual_clock.h"
#include "base/testing/temporary_folder.h"
#include "fleet/server/dispatcher.h"
#include "fleet/server/mailbox.h"
#include "fleet/store/fleet_store.h"

namespace attune {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

CertificateFacts Member(FleetRole role, const std::string& id, const std::string& authority) {
  return {.who = {.role = role, .owner = "ann", .id = id}, .serial = id, .authority = authority};
}

class DispatcherMembersTest : public ::testing::Test {
 protected:
  using AgentMail = std::shared_ptr<Mailbox<fleet_proto::ToAgent>>;
  using ClientMail = std::shared_ptr<Mailbox<fleet_proto::ToClient>>;

  AgentMail Agent(const std::string& id, const std::string& authority) {
    auto mail = std::make_shared<Mailbox<fleet_proto::ToAgent>>();
    dispatcher_->AddAgent(Member(FleetRole::kAgent, id, authority), mail);
    return mail;
  }
  ClientMail Client(FleetRole role, const std::string& id, const std::string& authority) {
    auto mail = std::make_shared<Mailbox<fleet_proto::ToClient>>();
    dispatcher_->AddClient(Member(role, id, authority), mail);
    return mail;
  }

  const testing::TemporaryFolder folder_;
  ManualClock clock_;
  const std::unique_ptr<FleetStore> store_ = *FleetStore::Open(folder_ / "fleet.db");
  const std::unique_ptr<Dispatcher> dispatcher_ = *Dispatcher::Create(*store_, {}, clock_);
};

TEST_F(DispatcherMembersTest, AgentsOfAnotherAuthorityAreAskedToRenewOnce) {
  const AgentMail old = Agent("desk", "old"), renewed = Agent("rack", "new");
  dispatcher_->AskToRenew("new");
  const auto messages = old->Take();
  ASSERT_THAT(messages, SizeIs(1));
  EXPECT_TRUE(messages[0].has_renew());
  dispatcher_->AskToRenew("new");
  EXPECT_THAT(old->Take(), IsEmpty());
  EXPECT_THAT(renewed->Take(), IsEmpty());
  // It may not have heard it: another connection, another message.
  const AgentMail again = Agent("desk", "old");
  dispatcher_->AskToRenew("new");
  EXPECT_THAT(again->Take(), SizeIs(1));
}

TEST_F(DispatcherMembersTest, ThoseWhoAreRefusedLoseTheirConnections) {
  const AgentMail old = Agent("desk", "old"), renewed = Agent("rack", "new");
  const ClientMail client = Client(FleetRole::kClient, "bob", "old");
  const ClientMail calibrator = Client(FleetRole::kServer, "calibrator", "");
  EXPECT_THAT(dispatcher_->Connected(), UnorderedElementsAre("desk", "rack", "bob", "calibrator"));
  const absl::Status why = absl::PermissionDeniedError("too old");
  dispatcher_->Close(
      [&](const CertificateFacts& facts) { return facts.authority == "new" ? absl::OkStatus() : why; });
  EXPECT_EQ(old->closed(), why);
  EXPECT_EQ(client->closed(), why);
  EXPECT_EQ(renewed->closed(), std::nullopt);
  EXPECT_EQ(calibrator->closed(), std::nullopt);  // the server itself has no certificate
}

}  // namespace
}  // namespace attune
