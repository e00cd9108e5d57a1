// Work goes to devices, and results come back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "absl/status/status.h"
#include "fleet/server/dispatcher_for_test.h"

namespace attune {
namespace {

namespace proto = fleet_proto;
using ::testing::IsEmpty;

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

}  // namespace
}  // namespace attune
