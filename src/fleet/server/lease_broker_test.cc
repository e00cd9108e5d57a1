// The broker between links of tests, without a dispatcher.
#include "fleet/server/lease_broker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/testing/manual_clock.h"
#include "base/testing/temporary_folder.h"
#include "fleet/server/mailbox.h"
#include "fleet/store/fleet_store.h"
#include "fleet/wire/token.h"
#include "measure/codec.h"

namespace attune {
namespace {

namespace proto = fleet_proto;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kDevice[] = "desk/cpu";
constexpr double kLeaseSeconds = 15;

struct ClientOfBroker {
  int64_t number = 0;
  std::shared_ptr<Mailbox<proto::ToClient>> mail = std::make_shared<Mailbox<proto::ToClient>>();
};

class LeaseBrokerTest : public ::testing::Test {
 protected:
  LeaseBrokerTest() {
    EXPECT_TRUE(devices_.Join({.id = kDevice, .agent = "desk", .owner = kServersOwner}, "board").ok());
    leases_.Join(kDevice, {kDevice}, clock_.Now());
    agent_ = agents_.Add({.who = {.role = FleetRole::kAgent, .owner = kServersOwner, .id = "desk"}}, mail_);
    agents_.Serve(agent_, kDevice, {}, clock_.Now());
  }

  AgentConnections::Agent& agent() { return *agents_.Find(agent_); }
  ClientOfBroker Client(const std::string& owner, const LeaseToken& resumed = {}) {
    ClientOfBroker client;
    client.number =
        clients_.Add({.who = {.role = FleetRole::kClient, .owner = owner, .id = "job"}}, client.mail);
    proto::Ask ask;
    ask.set_key(kDevice);
    if (resumed != LeaseToken()) ToWire(resumed, *ask.mutable_resumed());
    EXPECT_TRUE(broker_.Ask(client.number, ask).ok());
    broker_.Grant();
    return client;
  }
  LeaseToken TokenOf(const ClientOfBroker& client) { return clients_.Find(client.number)->token; }
  void SendItem(const ClientOfBroker& client, int index) {
    proto::Items items;
    items.add_items()->set_index(index);
    items.mutable_items(0)->set_item(
        EncodeWorkerRequest(MeasureItem{.kind = MeasureItem::Kind::kMeasurePeaks}));
    EXPECT_TRUE(broker_.AddItems(*clients_.Find(client.number), items).ok());
  }
  void Answer(const LeaseToken& token, int index) {
    proto::Result result;
    ToWire(token, *result.mutable_token());
    result.set_index(index);
    EXPECT_TRUE(broker_.PassOn(agent(), result, Measurement()).ok());
  }
  static int64_t NumResults(const ClientOfBroker& client) {
    return std::ranges::count_if(client.mail->Take(), &proto::ToClient::has_result);
  }

  const testing::TemporaryFolder folder_;
  ManualClock clock_;
  const std::unique_ptr<FleetStore> store_ = *FleetStore::Open(folder_ / "fleet.db");
  DeviceRegistry devices_{*store_};
  AgentConnections agents_;
  ClientConnections clients_;
  FleetLeases leases_{2, kLeaseSeconds, std::nullopt, &devices_.owners()};
  HeldLeases held_;
  LeaseBroker broker_{*store_, {.lease_seconds = kLeaseSeconds}, clock_, devices_, agents_, clients_, leases_,
                      held_};
  const std::shared_ptr<Mailbox<proto::ToAgent>> mail_ = std::make_shared<Mailbox<proto::ToAgent>>();
  int64_t agent_ = 0;
};

TEST_F(LeaseBrokerTest, WorkGoesOutAndResultsComeBackOnce) {
  const ClientOfBroker client = Client("ann");
  const LeaseToken token = TokenOf(client);
  EXPECT_THAT(*store_->Leases(), SizeIs(1));
  SendItem(client, 7);
  const std::vector<proto::ToAgent> sent = mail_->Take();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].work().device(), "cpu");
  EXPECT_EQ(sent[0].work().owner(), "ann");
  EXPECT_EQ(sent[0].work().items(0).index(), 7);
  for (int i = 0; i < 2; ++i) Answer(token, 7);
  EXPECT_EQ(NumResults(client), 1);
  EXPECT_EQ(broker_.counters().results_passed_on, 1);
  EXPECT_EQ(broker_.counters().results_refused, 1);
  broker_.End(token, absl::OkStatus());
  EXPECT_EQ(client.mail->closed(), absl::OkStatus());
  EXPECT_TRUE(mail_->Take().at(0).has_stop());
  EXPECT_THAT(*store_->Leases(), IsEmpty());
  Answer(token, 7);
  EXPECT_TRUE(mail_->Take().at(0).has_stop());
  EXPECT_EQ(broker_.counters().results_refused, 2);
}

TEST_F(LeaseBrokerTest, AnAgentThatIsWelcomedGetsTheOpenWork) {
  const ClientOfBroker client = Client("ann");
  SendItem(client, 1);
  SendItem(client, 2);
  Answer(TokenOf(client), 1);
  mail_->Take();
  broker_.Welcome(agent());
  const std::vector<proto::ToAgent> sent = mail_->Take();
  ASSERT_THAT(sent, SizeIs(2));
  EXPECT_EQ(sent[0].welcome().lease_seconds(), kLeaseSeconds);
  ASSERT_EQ(sent[1].work().items_size(), 1);
  EXPECT_EQ(sent[1].work().items(0).index(), 2);
}

TEST_F(LeaseBrokerTest, ALeaseThatCannotBeStoredIsNone) {
  const ClientOfBroker client = Client("");  // no store takes an owner without a name
  ASSERT_TRUE(client.mail->closed());
  EXPECT_TRUE(absl::IsInvalidArgument(*client.mail->closed())) << *client.mail->closed();
  EXPECT_FALSE(clients_.Find(client.number)->has_lease());
  EXPECT_EQ(held_.OfDevice(kDevice), std::nullopt);
  EXPECT_TRUE(clients_.Find(Client("ann").number)->has_lease());
}

TEST_F(LeaseBrokerTest, ALeaseOutlivesItsClientsConnection) {
  const ClientOfBroker client = Client("ann"), waiting = Client("bob");
  const LeaseToken token = TokenOf(client);
  broker_.RemoveClient(client.number);
  broker_.RemoveClient(client.number);
  const ClientOfBroker thief = Client("eve", token);
  EXPECT_FALSE(clients_.Find(thief.number)->has_lease());
  broker_.RemoveClient(thief.number);
  EXPECT_EQ(leases_.Waiting().at(kDevice), 1);
  const ClientOfBroker again = Client("ann", token);
  EXPECT_EQ(TokenOf(again), token);
  EXPECT_EQ(held_.Find(token)->client, again.number);
  EXPECT_FALSE(clients_.Find(waiting.number)->has_lease());
}

TEST_F(LeaseBrokerTest, ASilentLeaseEnds) {
  const ClientOfBroker client = Client("ann");
  clock_.Advance(kLeaseSeconds / 2);
  broker_.SignOfLife(agent());
  clock_.Advance(kLeaseSeconds / 2);
  broker_.EndSilent();
  EXPECT_EQ(*client.mail->closed(), absl::UnavailableError("desk/cpu: its holder gave no signs of life"));
  EXPECT_THAT(held_.all(), IsEmpty());
  EXPECT_EQ(broker_.counters().leases_lost, 1);
}

TEST_F(LeaseBrokerTest, StoredLeasesAreRestoredUnlessTheyAreForbidden) {
  const LeaseToken allowed = {.epoch = 1, .number = 1}, forbidden = {.epoch = 1, .number = 2};
  ASSERT_TRUE(devices_.Join({.id = "a/cpu", .agent = "a", .owner = "ann"}, "board").ok());
  ASSERT_TRUE(store_->PutLease({.token = allowed, .device = kDevice, .owner = "bob", .key = "x"}).ok());
  ASSERT_TRUE(store_->PutLease({.token = forbidden, .device = "a/cpu", .owner = "bob", .key = "x"}).ok());
  ASSERT_TRUE(broker_.Load().ok());
  EXPECT_NE(held_.Find(allowed), nullptr);
  EXPECT_EQ(held_.Find(forbidden), nullptr);
  EXPECT_THAT(*store_->Leases(), SizeIs(1));
  EXPECT_EQ(TokenOf(Client("bob", allowed)), allowed);
}

TEST_F(LeaseBrokerTest, RequestsThatNoDeviceMayServeAnyMoreAreRefused) {
  const ClientOfBroker client = Client("ann"), waiting = Client("bob");
  const auto shared_with_ann = [](std::set<std::string>& owners) { owners = {"ann"}; };
  ASSERT_TRUE(devices_.Share(kDevice, kServersOwner, shared_with_ann).ok());
  broker_.EndForbidden();
  EXPECT_EQ(client.mail->closed(), std::nullopt);
  ASSERT_TRUE(waiting.mail->closed());
  EXPECT_TRUE(absl::IsNotFound(*waiting.mail->closed()));
  EXPECT_FALSE(clients_.Find(waiting.number)->is_waiting());
  EXPECT_THAT(leases_.Waiting(), IsEmpty());
}

}  // namespace
}  // namespace attune
