#include "fleet/server/dispatcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/testing/manual_clock.h"
#include "base/testing/temporary_folder.h"
#include "device/codec.h"
#include "fleet/store/sql_fleet_store.h"
#include "fleet/wire/token.h"
#include "fleet/wire/version.h"
#include "measure/codec.h"

namespace attune {
namespace {

namespace proto = fleet_proto;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A link whose messages stay here.
template <typename Message>
class LinkOfTest final : public Link<Message> {
 public:
  void Send(const Message& message) override { sent.push_back(message); }
  void Close(const absl::Status& why) override {
    if (!closed) closed = why;
  }

  std::vector<Message> sent;
  std::optional<absl::Status> closed;
};

struct AgentOfTest {
  int64_t number = 0;
  std::shared_ptr<LinkOfTest<proto::ToAgent>> link = std::make_shared<LinkOfTest<proto::ToAgent>>();

  // The latest work that it got.
  const proto::Work& work() const {
    const auto last = std::ranges::find_if(link->sent.rbegin(), link->sent.rend(), &proto::ToAgent::has_work);
    return last->work();
  }
};

struct ClientOfTest {
  int64_t number = 0;
  std::shared_ptr<LinkOfTest<proto::ToClient>> link = std::make_shared<LinkOfTest<proto::ToClient>>();

  bool has_device() const { return std::ranges::any_of(link->sent, &proto::ToClient::has_granted); }
  proto::Token token() const {
    return std::ranges::find_if(link->sent, &proto::ToClient::has_granted)->granted().token();
  }
  int64_t num_results() const { return std::ranges::count_if(link->sent, &proto::ToClient::has_result); }
};

class DispatcherTest : public ::testing::Test {
 protected:
  DispatcherTest() : store_(*SqlFleetStore::Open(folder_ / "fleet.db")) { Start(); }

  void Start() {
    dispatcher_.reset();
    dispatcher_ = *Dispatcher::Create(
        *store_, {.lease_seconds = kLeaseSeconds, .heartbeat_seconds = kLeaseSeconds / 3}, clock_);
  }

  static CertificateFacts Who(FleetRole role, const std::string& owner, const std::string& id) {
    return {.who = {.role = role, .owner = owner, .id = id}, .serial = id, .begin_ms = 0, .end_ms = 1};
  }
  static proto::FromAgent Hello(const std::vector<std::string>& trusted = {}) {
    const DeviceInfo info = {.fingerprint = "board",
                             .target = *TargetByName("x86-64-v3"),
                             .usable = {0},
                             .processors = {{.number = 0, .core = 0, .cache = 0}}};
    proto::FromAgent message;
    message.mutable_hello()->set_version(kFleetVersion);
    proto::AgentDevice* device = message.mutable_hello()->add_devices();
    device->set_name("cpu");
    device->set_info(EncodeDevice(info));
    for (const std::string& owner : trusted) device->add_trusted_owners(owner);
    return message;
  }
  AgentOfTest Agent(const std::string& id, const proto::FromAgent& hello = Hello()) {
    AgentOfTest agent;
    agent.number = dispatcher_->AddAgent(Who(FleetRole::kAgent, kServersOwner, id), agent.link);
    dispatcher_->Receive(agent.number, hello);
    return agent;
  }
  ClientOfTest Client(const std::string& owner, int priority = 0, const proto::Token* resumed = nullptr) {
    ClientOfTest client;
    client.number = dispatcher_->AddClient(Who(FleetRole::kClient, owner, "of " + owner), client.link);
    proto::FromClient message;
    message.mutable_ask()->set_version(kFleetVersion);
    message.mutable_ask()->set_key("board");
    message.mutable_ask()->set_priority(priority);
    if (resumed != nullptr) *message.mutable_ask()->mutable_resumed() = *resumed;
    dispatcher_->Receive(client.number, message);
    return client;
  }
  void SendItem(const ClientOfTest& client, int index) {
    proto::FromClient message;
    proto::Item* item = message.mutable_items()->add_items();
    item->set_index(index);
    item->set_item(EncodeWorkerRequest(item_));
    dispatcher_->Receive(client.number, message);
  }
  void Beat(const AgentOfTest& agent) {
    proto::FromAgent message;
    message.mutable_heartbeat();
    dispatcher_->Receive(agent.number, message);
  }
  void Beat(const ClientOfTest& client) {
    proto::FromClient message;
    message.mutable_heartbeat();
    dispatcher_->Receive(client.number, message);
  }
  void Release(const ClientOfTest& client) {
    proto::FromClient message;
    message.mutable_release();
    dispatcher_->Receive(client.number, message);
  }
  void Answer(const AgentOfTest& agent, const proto::Token& token, int index) {
    proto::FromAgent message;
    *message.mutable_result()->mutable_token() = token;
    message.mutable_result()->set_index(index);
    dispatcher_->Receive(agent.number, message);
  }

  static constexpr double kLeaseSeconds = 15;
  MeasureItem item_ = {.kind = MeasureItem::Kind::kMeasurePeaks};
  ManualClock clock_;
  testing::TemporaryFolder folder_;
  std::unique_ptr<FleetStore> store_;
  std::unique_ptr<Dispatcher> dispatcher_;
};

TEST_F(DispatcherTest, WorkGoesToTheDeviceAndResultsComeBack) {
  const AgentOfTest agent = Agent("a");
  const ClientOfTest client = Client("alice");
  ASSERT_TRUE(client.has_device());
  SendItem(client, 7);
  EXPECT_EQ(agent.work().owner(), "alice");
  EXPECT_EQ(agent.work().device(), "cpu");
  EXPECT_EQ(agent.work().items(0).index(), 7);
  Answer(agent, client.token(), 7);
  EXPECT_EQ(client.num_results(), 1);
  Release(client);
  ASSERT_TRUE(client.link->closed);
  EXPECT_TRUE(client.link->closed->ok());
  EXPECT_THAT(*store_->Leases(), IsEmpty());
  EXPECT_TRUE(Client("carol").has_device());
}

TEST_F(DispatcherTest, TheHighestPriorityIsServedFirst) {
  const AgentOfTest agent = Agent("a");
  const ClientOfTest first = Client("alice"), low = Client("carol"), high = Client("dave", 5);
  Release(first);
  EXPECT_FALSE(low.has_device());
  EXPECT_TRUE(high.has_device());
  Release(high);
  EXPECT_TRUE(low.has_device());
}

TEST_F(DispatcherTest, ResultsUnderAStaleTokenAreRefused) {
  const AgentOfTest agent = Agent("a"), other = Agent("b");
  const ClientOfTest client = Client("alice");
  const bool first_has_it = !agent.link->sent.empty() && client.token().number() != 0;
  ASSERT_TRUE(first_has_it);
  SendItem(client, 1);
  // Another agent that knows the token is no better than one with an old token.
  Answer(other, client.token(), 1);
  EXPECT_EQ(client.num_results(), 0);
  proto::Token old = client.token();
  old.set_number(old.number() + 1);
  Answer(agent, old, 1);
  EXPECT_EQ(client.num_results(), 0);
  EXPECT_TRUE(agent.link->sent.back().has_stop());
  Answer(agent, client.token(), 1);
  EXPECT_EQ(client.num_results(), 1);
}

TEST_F(DispatcherTest, ASilentDeviceLosesItsLeaseAndItsResultsAreRefused) {
  const AgentOfTest agent = Agent("a");
  const ClientOfTest client = Client("alice");
  const proto::Token token = client.token();
  clock_.Advance(kLeaseSeconds / 2);
  Beat(client);
  clock_.Advance(kLeaseSeconds / 2);
  dispatcher_->Tick();
  ASSERT_TRUE(client.link->closed);
  EXPECT_TRUE(absl::IsUnavailable(*client.link->closed));
  Beat(agent);
  const ClientOfTest next = Client("carol");
  EXPECT_TRUE(next.has_device());
  EXPECT_GT(FromWire(next.token()), FromWire(token));
  Answer(agent, token, 1);
  EXPECT_EQ(client.num_results() + next.num_results(), 0);
}

TEST_F(DispatcherTest, LeasesDoNotHeedTheWallClock) {
  const AgentOfTest agent = Agent("a");
  const ClientOfTest client = Client("alice");
  for (const double jump : {5 * 3600.0, -9 * 3600.0}) {
    clock_.JumpWall(jump);
    clock_.Advance(kLeaseSeconds - 1);
    dispatcher_->Tick();
    EXPECT_FALSE(client.link->closed) << jump;
    Beat(agent);
    Beat(client);
  }
  clock_.Advance(kLeaseSeconds / 2);
  clock_.JumpWall(-3600);
  clock_.Advance(kLeaseSeconds / 2);
  dispatcher_->Tick();
  EXPECT_TRUE(client.link->closed);
}

TEST_F(DispatcherTest, ASilentHolderLosesTheDevice) {
  const AgentOfTest agent = Agent("a");
  const ClientOfTest client = Client("alice"), next = Client("carol");
  clock_.Advance(kLeaseSeconds / 2);
  Beat(agent);
  clock_.Advance(kLeaseSeconds / 2);
  dispatcher_->Tick();
  EXPECT_TRUE(client.link->closed);
  EXPECT_TRUE(next.has_device());
}

TEST_F(DispatcherTest, AnAgentThatComesBackGetsTheOpenWorkAgain) {
  AgentOfTest agent = Agent("a");
  const ClientOfTest client = Client("alice");
  SendItem(client, 1);
  SendItem(client, 2);
  Answer(agent, client.token(), 1);
  dispatcher_->RemoveAgent(agent.number);
  agent = Agent("a");
  ASSERT_EQ(agent.work().items_size(), 1);
  EXPECT_EQ(agent.work().items(0).index(), 2);
  Answer(agent, client.token(), 2);
  EXPECT_EQ(client.num_results(), 2);
}

TEST_F(DispatcherTest, AClientThatComesBackKeepsItsLease) {
  const AgentOfTest agent = Agent("a");
  ClientOfTest client = Client("alice");
  const proto::Token token = client.token();
  dispatcher_->RemoveClient(client.number);
  const ClientOfTest thief = Client("mallory", 0, &token);
  EXPECT_FALSE(thief.has_device());
  client = Client("alice", 0, &token);
  ASSERT_TRUE(client.has_device());
  EXPECT_EQ(FromWire(client.token()), FromWire(token));
}

TEST_F(DispatcherTest, LeasesOutliveTheServer) {
  AgentOfTest agent = Agent("a");
  ClientOfTest client = Client("alice");
  const proto::Token token = client.token();
  Start();
  agent = Agent("a");
  client = Client("alice", 0, &token);
  ASSERT_TRUE(client.has_device());
  EXPECT_EQ(FromWire(client.token()), FromWire(token));
  SendItem(client, 3);
  Answer(agent, token, 3);
  EXPECT_EQ(client.num_results(), 1);
  // No other client gets a device before the leases of absent clients would have ended.
  const AgentOfTest other = Agent("b");
  const ClientOfTest next = Client("carol");
  EXPECT_FALSE(next.has_device());
  clock_.Advance(kLeaseSeconds);
  Beat(other);
  dispatcher_->Tick();
  EXPECT_TRUE(next.has_device());
}

TEST_F(DispatcherTest, ADeviceThatCannotFenceTakesWorkOfTrustedOwnersAlone) {
  const AgentOfTest agent = Agent("a", Hello({"alice"}));
  EXPECT_FALSE(Client("mallory").has_device());
  EXPECT_TRUE(Client("alice").has_device());
}

TEST_F(DispatcherTest, AnAgentOfAnotherVersionIsToldSo) {
  proto::FromAgent hello = Hello();
  hello.mutable_hello()->set_version(kLeastFleetVersion - 1);
  const AgentOfTest agent = Agent("a", hello);
  ASSERT_TRUE(agent.link->closed);
  EXPECT_TRUE(absl::IsFailedPrecondition(*agent.link->closed)) << *agent.link->closed;
}

TEST_F(DispatcherTest, ADeviceThatContradictsItselfIsRefused) {
  proto::FromAgent hello = Hello();
  hello.mutable_hello()->mutable_devices(0)->set_info("nonsense");
  const AgentOfTest agent = Agent("a", hello);
  EXPECT_TRUE(agent.link->closed);
  EXPECT_TRUE(dispatcher_->Devices("").empty());
}

TEST_F(DispatcherTest, AnAgentSaysOnceWhatItOffersAndSaysItFirst) {
  const AgentOfTest agent = Agent("a");
  const ClientOfTest client = Client("alice");
  dispatcher_->Receive(agent.number, Hello());
  ASSERT_TRUE(agent.link->closed);
  EXPECT_TRUE(absl::IsInvalidArgument(*agent.link->closed)) << *agent.link->closed;
  // Its client learns it at once, and can measure on another device.
  ASSERT_TRUE(client.link->closed);
  EXPECT_TRUE(absl::IsUnavailable(*client.link->closed)) << *client.link->closed;
  const AgentOfTest silent = Agent("b", proto::FromAgent());
  EXPECT_FALSE(silent.link->closed);
  Beat(silent);
  ASSERT_TRUE(silent.link->closed);
  EXPECT_TRUE(absl::IsInvalidArgument(*silent.link->closed)) << *silent.link->closed;
}

TEST_F(DispatcherTest, WhatOneDeviceOfAnAgentSaysWrongMakesNoneOfThemThere) {
  proto::FromAgent hello = Hello();
  *hello.mutable_hello()->add_devices() = hello.hello().devices(0);
  const AgentOfTest agent = Agent("a", hello);
  EXPECT_TRUE(agent.link->closed);
  EXPECT_TRUE(dispatcher_->Devices("").empty());
}

TEST_F(DispatcherTest, AnAgentHasSoManyDevicesInAll) {
  proto::FromAgent hello = Hello();
  for (int i = 0; i < kMaxDevicesOfAgent; ++i) {
    hello.mutable_hello()->mutable_devices(0)->set_name(absl::StrCat("cpu", i));
    const AgentOfTest agent = Agent("a", hello);
    EXPECT_FALSE(agent.link->closed);
    dispatcher_->RemoveAgent(agent.number);
  }
  const AgentOfTest more = Agent("a");
  ASSERT_TRUE(more.link->closed);
  EXPECT_TRUE(absl::IsResourceExhausted(*more.link->closed)) << *more.link->closed;
  ASSERT_TRUE(dispatcher_->Remove("a/cpu0").ok());
  EXPECT_FALSE(Agent("a").link->closed);
}

TEST_F(DispatcherTest, OnlyWhatWasAskedIsAnsweredAndOnce) {
  const AgentOfTest agent = Agent("a");
  const ClientOfTest client = Client("alice");
  SendItem(client, 1);
  for (const int index : {1, 1, 2, INT32_MAX}) Answer(agent, client.token(), index);
  EXPECT_EQ(client.num_results(), 1);
  EXPECT_FALSE(agent.link->closed);  // an agent that has come back may answer twice
  EXPECT_EQ(dispatcher_->Snapshot().counters.results_refused, 3);
}

TEST_F(DispatcherTest, ATimeThatNothingTakesEndsTheLeaseAndTheAgent) {
  item_.kind = MeasureItem::Kind::kTimeKernel;
  const AgentOfTest agent = Agent("a");
  const ClientOfTest client = Client("alice");
  SendItem(client, 1);
  Answer(agent, client.token(), 1);  // in no time
  EXPECT_EQ(client.num_results(), 0);
  ASSERT_TRUE(agent.link->closed);
  EXPECT_TRUE(absl::IsInvalidArgument(*agent.link->closed)) << *agent.link->closed;
  ASSERT_TRUE(client.link->closed);
  EXPECT_TRUE(absl::IsUnavailable(*client.link->closed)) << *client.link->closed;
  EXPECT_FALSE(dispatcher_->Devices("board").at(0).is_there());
}

TEST_F(DispatcherTest, AnAgentThatBeatsWithoutPauseDrownsNobody) {
  const AgentOfTest agent = Agent("a");
  const ClientOfTest client = Client("alice");
  for (int i = 0; i < 1000; ++i) Beat(agent);
  const auto num_alive = [&] {
    return std::ranges::count_if(client.link->sent, &proto::ToClient::has_device_is_alive);
  };
  EXPECT_EQ(num_alive(), 1);
  clock_.Advance(kLeaseSeconds / 3);
  Beat(agent);
  EXPECT_EQ(num_alive(), 2);
}

TEST_F(DispatcherTest, ALeaseHasOneConnection) {
  const AgentOfTest agent = Agent("a");
  const ClientOfTest client = Client("alice");
  const proto::Token token = client.token();
  const ClientOfTest again = Client("alice", 0, &token);
  ASSERT_TRUE(again.has_device());
  ASSERT_TRUE(client.link->closed);
  EXPECT_TRUE(absl::IsAborted(*client.link->closed)) << *client.link->closed;
  Release(client);  // crosses with that
  SendItem(again, 1);
  Answer(agent, token, 1);
  EXPECT_EQ(again.num_results(), 1);
}

TEST_F(DispatcherTest, NobodyTakesALeaseOfAnotherMemberOfTheSameOwner) {
  const AgentOfTest agent = Agent("a");
  const ClientOfTest client = Client("alice");
  ClientOfTest thief;
  thief.number = dispatcher_->AddClient(Who(FleetRole::kClient, "alice", "another job"), thief.link);
  proto::FromClient message;
  message.mutable_ask()->set_version(kFleetVersion);
  message.mutable_ask()->set_key("board");
  *message.mutable_ask()->mutable_resumed() = client.token();
  dispatcher_->Receive(thief.number, message);
  EXPECT_FALSE(thief.has_device());
  EXPECT_FALSE(client.link->closed);
}

TEST_F(DispatcherTest, AClientThatLiesLosesItsLease) {
  const AgentOfTest agent = Agent("a");
  const ClientOfTest client = Client("alice"), next = Client("carol");
  SendItem(client, -1);
  ASSERT_TRUE(client.link->closed);
  EXPECT_TRUE(absl::IsInvalidArgument(*client.link->closed)) << *client.link->closed;
  EXPECT_TRUE(next.has_device());
  EXPECT_FALSE(agent.link->closed);
}

TEST_F(DispatcherTest, AMemberHasSoManyConnections) {
  std::vector<ClientOfTest> clients;
  for (int i = 0; i < 1025; ++i) {
    clients.emplace_back();
    clients.back().number =
        dispatcher_->AddClient(Who(FleetRole::kClient, "eve", "eve-1"), clients.back().link);
  }
  EXPECT_FALSE(clients[1023].link->closed);
  ASSERT_TRUE(clients[1024].link->closed);
  EXPECT_TRUE(absl::IsResourceExhausted(*clients[1024].link->closed)) << *clients[1024].link->closed;
  dispatcher_->RemoveClient(clients[0].number);
  ClientOfTest another;
  dispatcher_->AddClient(Who(FleetRole::kClient, "eve", "eve-1"), another.link);
  EXPECT_FALSE(another.link->closed);
}

TEST_F(DispatcherTest, CredentialsThatTwoPlacesUseAreAWarning) {
  const auto warnings = [&] {
    int64_t count = 0;
    for (const proto::Device& device : dispatcher_->Devices("")) count += device.warning().empty() ? 0 : 1;
    return count;
  };
  // An agent that is cut off comes back once.
  Agent("b");
  Agent("b");
  Agent("a");
  for (int i = 0; i < SharedCredentials::kReplaced; ++i) {
    EXPECT_EQ(warnings(), 0);
    clock_.Advance(0.5);
    const AgentOfTest again = Agent("a");
    EXPECT_FALSE(again.link->closed);
  }
  EXPECT_EQ(warnings(), 1);
  EXPECT_THAT(dispatcher_->Devices("a/cpu").at(0).warning(), HasSubstr("attune fleet revoke a"));
  EXPECT_EQ(dispatcher_->Snapshot().agents_with_shared_credentials, 1);
  EXPECT_EQ(dispatcher_->Snapshot().counters.agents_replaced, SharedCredentials::kReplaced + 1);
  clock_.Advance(SharedCredentials::kRememberedSeconds);
  EXPECT_EQ(warnings(), 0);
}

TEST_F(DispatcherTest, ADrainedDeviceStaysDrainedWhenItsAgentComesBack) {
  Agent("a");
  ASSERT_TRUE(dispatcher_->Drain("a/cpu", "repairs").ok());
  Start();
  clock_.Advance(kLeaseSeconds);
  Agent("a");
  const ClientOfTest client = Client("alice");
  EXPECT_FALSE(client.has_device());
  ASSERT_TRUE(dispatcher_->Resume("a/cpu").ok());
  EXPECT_TRUE(client.has_device());
}

TEST_F(DispatcherTest, RemovingADeviceEndsItsLease) {
  Agent("a");
  const ClientOfTest client = Client("alice");
  ASSERT_TRUE(dispatcher_->Remove("a/cpu").ok());
  EXPECT_TRUE(client.link->closed);
  EXPECT_TRUE(dispatcher_->Devices("").empty());
  EXPECT_TRUE(absl::IsNotFound(dispatcher_->Remove("a/cpu")));
}

TEST_F(DispatcherTest, ConnectionsOfARevokedCertificateEnd) {
  const AgentOfTest agent = Agent("a"), other = Agent("b");
  dispatcher_->Close([](const CertificateFacts& facts) {
    return facts.serial == "a" ? CertificateIsRevoked() : absl::OkStatus();
  });
  EXPECT_TRUE(agent.link->closed);
  EXPECT_FALSE(other.link->closed);
}

TEST_F(DispatcherTest, BlobsAreForTheHolderOfTheDevice) {
  const AgentOfTest agent = Agent("a");
  const ClientOfTest client = Client("alice");
  const LeaseToken token = FromWire(client.token());
  const FleetIdentity holder = Who(FleetRole::kAgent, kServersOwner, "a").who,
                      other = Who(FleetRole::kAgent, kServersOwner, "b").who;
  EXPECT_EQ(*dispatcher_->OwnerOfLease(holder, token), "alice");
  EXPECT_TRUE(absl::IsPermissionDenied(dispatcher_->OwnerOfLease(other, token).status()));
}

}  // namespace
}  // namespace attune
