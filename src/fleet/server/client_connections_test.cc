#include "fleet/server/client_connections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "fleet/server/mailbox.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ClientConnectionsTest : public ::testing::Test {
 protected:
  int64_t Add() {
    return clients_.Add({.who = {.role = FleetRole::kClient, .owner = "bob", .id = "job"}},
                        std::make_shared<Mailbox<fleet_proto::ToClient>>());
  }

  ClientConnections clients_;
};

TEST_F(ClientConnectionsTest, AConnectionWaitsUntilItHasALease) {
  const int64_t first = Add(), second = Add(), idle = Add();
  clients_.Wait(second, 7, "desk", 5);
  clients_.Wait(first, 8, "rack", 6);
  EXPECT_THAT(clients_.Waiting(), ElementsAre(first, second));
  EXPECT_FALSE(clients_.Find(idle)->is_waiting());
  const LeaseToken token = {.epoch = 1, .number = 2};
  EXPECT_EQ(clients_.Grant(7, token), second);
  const ClientConnections::Client& client = *clients_.Find(second);
  EXPECT_FALSE(client.is_waiting());
  EXPECT_TRUE(client.has_lease());
  EXPECT_EQ(client.token, token);
  EXPECT_EQ(client.key, "desk");
  EXPECT_EQ(client.asked, 5);
  EXPECT_THAT(clients_.Waiting(), ElementsAre(first));
}

TEST_F(ClientConnectionsTest, AConnectionThatNoLongerWaitsMayGo) {
  const int64_t number = Add();
  clients_.Wait(number, 7, "desk", 5);
  EXPECT_EQ(clients_.StopWaiting(*clients_.Find(number)), 7);
  EXPECT_EQ(clients_.StopWaiting(*clients_.Find(number)), 0);
  EXPECT_THAT(clients_.Waiting(), IsEmpty());
  clients_.Remove(number);
  EXPECT_EQ(clients_.Find(number), nullptr);
}

TEST_F(ClientConnectionsTest, AMembersPriorityCountsBeforeWhatItAsksFor) {
  EXPECT_EQ(clients_.PriorityOf("job", 3), 3);
  clients_.SetPriority("job", -2);
  EXPECT_EQ(clients_.PriorityOf("job", 3), -2);
  EXPECT_EQ(clients_.PriorityOf("other", 3), 3);
  clients_.ForgetPriority("job");
  EXPECT_EQ(clients_.PriorityOf("job", 3), 3);
}

}  // namespace
}  // namespace attune
