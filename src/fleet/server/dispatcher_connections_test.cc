// Agents join with their devices, and members have connections.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "fleet/server/dispatcher_for_test.h"
#include "fleet/serving/shared_credentials.h"
#include "fleet/wire/checked_messages.h"

namespace attune {
namespace {

namespace proto = fleet_proto;
using ::testing::HasSubstr;

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

TEST_F(DispatcherTest, ConnectionsOfARevokedCertificateEnd) {
  const AgentOfTest agent = Agent("a"), other = Agent("b");
  dispatcher_->Close([](const CertificateFacts& facts) {
    return facts.serial == "a" ? CertificateIsRevoked() : absl::OkStatus();
  });
  EXPECT_TRUE(agent.link->closed);
  EXPECT_FALSE(other.link->closed);
}

}  // namespace
}  // namespace attune
