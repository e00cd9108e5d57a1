// Clients get devices, keep them and lose them.
#include <gtest/gtest.h>

#include "absl/status/status.h"
#include "fleet/server/dispatcher_for_test.h"
#include "fleet/wire/checked_messages.h"
#include "fleet/wire/token.h"

namespace attune {
namespace {

namespace proto = fleet_proto;

TEST_F(DispatcherTest, TheHighestPriorityIsServedFirst) {
  const AgentOfTest agent = Agent("a");
  const ClientOfTest first = Client("alice"), low = Client("carol"), high = Client("dave", 5);
  Release(first);
  EXPECT_FALSE(low.has_device());
  EXPECT_TRUE(high.has_device());
  Release(high);
  EXPECT_TRUE(low.has_device());
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
