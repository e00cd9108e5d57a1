#include "service/queue/connected_machines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/testing/manual_clock.h"
#include "fleet/server/mailbox.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using LinkOfTest = Mailbox<jobs_service_proto::ToRunner>;

class ConnectedMachinesTest : public ::testing::Test {
 protected:
  void SetUp() override { SetLogLevel(LogLevel::kOff); }
  void TearDown() override { SetLogLevel(LogLevel::kWarning); }

  std::pair<int64_t, std::shared_ptr<LinkOfTest>> Connect(const std::string& id = "runner-1") {
    auto link = std::make_shared<LinkOfTest>();
    const int64_t number =
        machines_.Add({.who = {.role = FleetRole::kRunner, .owner = "ann", .id = id}, .serial = id}, link);
    return {number, std::move(link)};
  }
  static RunnerOffer Offer() {
    RunnerOffer offer;
    offer.device.usable = {0, 1};
    offer.memory_bytes = 1 << 30;
    offer.programs = {"zip"};
    return offer;
  }

  ManualClock clock_;
  ConnectedMachines machines_{clock_};
};

TEST_F(ConnectedMachinesTest, AMachineIsThereOnceItHasSaidWhatItIs) {
  EXPECT_TRUE(machines_.TakeChanged()->empty());
  const auto [number, link] = Connect();
  EXPECT_FALSE(machines_.TakeChanged().has_value());
  ASSERT_TRUE(machines_.Join(number, Offer()).ok());
  const auto machines = machines_.TakeChanged();
  ASSERT_EQ(machines->size(), 1);
  const HostResources& host = machines->at(number).host.resources;
  EXPECT_EQ(host.processors, 2);
  EXPECT_TRUE(host.slots.contains(OwnerSlot("ann")));
  EXPECT_TRUE(host.slots.contains(ProgramSlot("ann", "zip")));
  EXPECT_TRUE(link->Take().at(0).has_welcome());
  EXPECT_THAT(machines_.Join(number, Offer()).status().message(), HasSubstr("introduces itself twice"));
  machines_.Remove(number);
  EXPECT_TRUE(machines_.TakeChanged()->empty());
  EXPECT_EQ(machines_.Find(number), nullptr);
  machines_.Remove(number);
  EXPECT_FALSE(machines_.TakeChanged().has_value());
}

TEST_F(ConnectedMachinesTest, ALaterConnectionReplacesTheEarlierOne) {
  const auto [first, lost] = Connect();
  EXPECT_EQ(*machines_.Join(first, Offer()), std::nullopt);
  const auto [second, link] = Connect();
  EXPECT_EQ(*machines_.Join(second, Offer()), first);
  EXPECT_THAT(std::string(lost->closed()->message()), HasSubstr("has connected again"));
  EXPECT_EQ(machines_.Find(first), nullptr);
  EXPECT_EQ(machines_.all().size(), 1);
}

TEST_F(ConnectedMachinesTest, AMachineHasFewConnectionsAtATime) {
  for (int i = 0; i < 4; ++i) EXPECT_EQ(Connect().second->closed(), std::nullopt);
  const auto [number, link] = Connect();
  EXPECT_TRUE(absl::IsResourceExhausted(*link->closed()));
  EXPECT_EQ(machines_.Find(number), nullptr);
  EXPECT_EQ(Connect("runner-2").second->closed(), std::nullopt);
}

TEST_F(ConnectedMachinesTest, AHostIsFoundByItsNumber) {
  const auto [number, link] = Connect();
  machines_.SetHost(number, 3);
  machines_.SetHost(number + 1, 4);  // which is gone
  EXPECT_EQ(machines_.OnHost(3), number);
  EXPECT_EQ(machines_.OnHost(4), std::nullopt);
  machines_.ForgetHosts();
  EXPECT_EQ(machines_.OnHost(3), std::nullopt);
  EXPECT_TRUE(machines_.TakeChanged().has_value());
}

}  // namespace
}  // namespace attune
