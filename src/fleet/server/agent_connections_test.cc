#include "fleet/server/agent_connections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "fleet/server/mailbox.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Mail = std::shared_ptr<Mailbox<fleet_proto::ToAgent>>;

constexpr char kDevice[] = "desk/cpu";

class AgentConnectionsTest : public ::testing::Test {
 protected:
  // An agent with this link that serves kDevice.
  int64_t AddServing(const Mail& mail, double now = 0) {
    const int64_t number = Add(mail);
    agents_.Serve(number, kDevice, {"frequency"}, now);
    return number;
  }
  int64_t Add(const Mail& mail, const std::string& authority = "") {
    return agents_.Add({.who = {.role = FleetRole::kAgent, .owner = "ann", .id = "desk"},
                        .serial = "1",
                        .authority = authority},
                       mail);
  }
  static Mail NewMail() { return std::make_shared<Mailbox<fleet_proto::ToAgent>>(); }
  fleet_proto::Device Described(double now = 0) const {
    fleet_proto::Device described;
    agents_.Describe(kDevice, now, described);
    return described;
  }

  AgentConnections agents_;
};

TEST_F(AgentConnectionsTest, TheLatestConnectionServesTheDevice) {
  const Mail old = NewMail(), latest = NewMail();
  const int64_t before = AddServing(old), number = AddServing(latest);
  ASSERT_TRUE(old->closed());
  EXPECT_TRUE(absl::IsAborted(*old->closed()));
  EXPECT_EQ(agents_.Find(before), nullptr);
  EXPECT_EQ(agents_.Serving(kDevice), agents_.Find(number));
  EXPECT_EQ(agents_.num_replaced(), 1);
  agents_.Serve(number, kDevice, {}, 0);  // which it does already
  EXPECT_EQ(latest->closed(), std::nullopt);
  EXPECT_EQ(agents_.num_replaced(), 1);
  agents_.Remove(before);
  EXPECT_EQ(agents_.size(), 1);
}

TEST_F(AgentConnectionsTest, MessagesGoToTheAgentThatServesTheDevice) {
  fleet_proto::ToAgent message;
  message.mutable_renew();
  const Mail mail = NewMail();
  const int64_t number = AddServing(mail);
  agents_.Send(kDevice, message);
  agents_.Send("desk/gpu", message);
  EXPECT_THAT(mail->Take(), SizeIs(1));
  agents_.Withdraw(kDevice);
  agents_.Send(kDevice, message);
  EXPECT_THAT(mail->Take(), IsEmpty());
  EXPECT_EQ(agents_.Serving(kDevice), nullptr);
  EXPECT_TRUE(agents_.Find(number)->devices.contains(kDevice));
}

TEST_F(AgentConnectionsTest, DevicesOfAConnectionThatIsRemovedAreAway) {
  const int64_t number = AddServing(NewMail());
  EXPECT_TRUE(Described().is_there());
  agents_.Remove(number);
  EXPECT_FALSE(Described().is_there());
  EXPECT_EQ(agents_.size(), 0);
}

TEST_F(AgentConnectionsTest, ADeviceIsShownAsItsAgentTellsIt) {
  AgentConnections::Agent& agent = *agents_.Find(AddServing(NewMail()));
  agent.program = "1.0";
  agent.lacks = {"The system has no Landlock."};
  fleet_proto::AgentHeartbeat heartbeat;
  heartbeat.set_load(0.5);
  (*heartbeat.mutable_disturbance())["cpu"] = 0.25;
  (*heartbeat.mutable_disturbance())["unknown"] = 0.75;
  agent.Update(heartbeat);
  EXPECT_THAT(agent.devices, SizeIs(1));
  const fleet_proto::Device described = Described();
  EXPECT_TRUE(described.is_there());
  EXPECT_EQ(described.load(), 0.5);
  EXPECT_EQ(described.disturbance(), 0.25);
  EXPECT_EQ(described.program(), "1.0");
  EXPECT_THAT(described.lacks(), ElementsAre("The system has no Landlock."));
  EXPECT_THAT(described.sensors(), ElementsAre("frequency"));
  EXPECT_EQ(described.warning(), "");
}

TEST_F(AgentConnectionsTest, CredentialsThatTwoPlacesUseAreAWarning) {
  AddServing(NewMail());
  for (int i = 0; i < SharedCredentials::kReplaced; ++i) {
    EXPECT_EQ(Described(i).warning(), "");
    AddServing(NewMail(), i);
  }
  EXPECT_THAT(Described(9).warning(), HasSubstr("attune fleet revoke desk"));
  EXPECT_EQ(agents_.NumShared(9), 1);
  EXPECT_EQ(agents_.NumShared(9 + SharedCredentials::kRememberedSeconds), 0);
}

TEST_F(AgentConnectionsTest, AConnectionIsAskedOnceToRenew) {
  const Mail old = NewMail(), renewed = NewMail();
  Add(old, "old");
  Add(renewed, "new");
  for (int i = 0; i < 2; ++i) agents_.AskToRenew("new");
  EXPECT_THAT(old->Take(), SizeIs(1));
  EXPECT_THAT(renewed->Take(), IsEmpty());
}

}  // namespace
}  // namespace attune
