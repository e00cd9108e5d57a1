// Whose requests the dispatcher lets wait, and for whose devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/testing/manual_clock.h"
#include "base/testing/temporary_folder.h"
#include "fleet/server/made_up_agent_for_test.h"
#include "fleet/server/made_up_client_for_test.h"
#include "fleet/store/fleet_store.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kLeaseSeconds = 15;

class DispatcherOwnersTest : public ::testing::Test {
 protected:
  DispatcherOwnersTest() { Restart(); }

  void Restart() {
    dispatcher_.reset();
    store_.reset();
    store_ = *FleetStore::Open(folder_ / "fleet.db");
    dispatcher_ = *Dispatcher::Create(*store_, {.lease_seconds = kLeaseSeconds}, clock_);
  }

  // The result of a client of this owner that asks for the key: empty while it may wait or has a device.
  std::optional<absl::Status> Ask(const std::string& owner, const std::string& key) {
    return MadeUpClient(*dispatcher_, key, owner).closed();
  }

  static constexpr char kDevice[] = "desk/cpu";
  static OwnersChange Adds(const std::string& owner) {
    return [owner](std::set<std::string>& owners) { owners.insert(owner); };
  }
  static OwnersChange Removes(const std::string& owner) {
    return [owner](std::set<std::string>& owners) { owners.erase(owner); };
  }

  const testing::TemporaryFolder folder_;
  ManualClock clock_;
  std::unique_ptr<FleetStore> store_;
  std::unique_ptr<Dispatcher> dispatcher_;
};

TEST_F(DispatcherOwnersTest, ARequestThatNoDeviceServesIsRefusedAtOnce) {
  const MadeUpAgent agent(*dispatcher_, nullptr, {.keys = {"fast"}, .trusted_owners = {"ann"}});
  const std::optional<absl::Status> others = Ask("bob", "fast");
  ASSERT_TRUE(others);
  EXPECT_EQ(others->code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(others->message(), "devices with the key \"fast\" take work of other owners only");
  EXPECT_EQ(Ask("ann", "slow")->code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Ask("ann", "fast"), std::nullopt);
}

TEST_F(DispatcherOwnersTest, OneDeviceThatServesIsEnough) {
  const MadeUpAgent picky(*dispatcher_, nullptr, {.keys = {"fast"}, .trusted_owners = {"ann"}});
  const MadeUpAgent open(*dispatcher_, nullptr, {.id = "rack", .keys = {"fast"}});
  EXPECT_EQ(Ask("bob", "fast"), std::nullopt);
  EXPECT_TRUE(Ask("bob", "desk/cpu"));
}

TEST_F(DispatcherOwnersTest, ADeviceIsItsOwnersUntilBothSidesConsent) {
  std::optional<MadeUpAgent> agent;
  agent.emplace(*dispatcher_, nullptr, MadeUpAgentOptions{.owner = "ann", .keys = {"fast"}});
  EXPECT_EQ(Ask("ann", "fast"), std::nullopt);
  EXPECT_EQ(
      Ask("bob", "fast")->message(),
      "no device has the key \"fast\" that is bob's or shared with bob; attune fleet list shows the keys");
  EXPECT_THAT(dispatcher_->DevicesFor("bob", ""), IsEmpty());
  EXPECT_EQ(dispatcher_->Share(kDevice, "bob", Adds("bob")).status().code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(dispatcher_->Share(kDevice, "ann", Adds("bob")).ok());
  EXPECT_THAT(dispatcher_->DevicesFor("bob", ""), SizeIs(1));
  EXPECT_THAT(dispatcher_->DevicesFor("bob", "fast"), IsEmpty());
  const std::optional<absl::Status> distrusted = Ask("bob", "fast");
  ASSERT_TRUE(distrusted);
  EXPECT_EQ(distrusted->code(), absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(std::string(distrusted->message()),
              HasSubstr("is that of ann, whose devices bob does not trust"));
  ASSERT_TRUE(dispatcher_->SetTrust("bob", Adds("ann")).ok());
  EXPECT_EQ(Ask("bob", "fast"), std::nullopt);
  EXPECT_TRUE(Ask("eve", "fast"));
  // All of it outlives the server, also before the device is back.
  agent.reset();
  Restart();
  EXPECT_EQ(Ask("bob", "fast"), std::nullopt);
  EXPECT_THAT(dispatcher_->TrustOf("bob"), ElementsAre("ann", kServersOwner));
}

TEST_F(DispatcherOwnersTest, WhatIsNotAllowedAnyMoreEndsAtOnce) {
  const MadeUpAgent agent(*dispatcher_, nullptr, {.owner = "ann", .keys = {"fast"}});
  ASSERT_TRUE(dispatcher_->Share(kDevice, "ann", Adds("bob")).ok());
  ASSERT_TRUE(dispatcher_->SetTrust("bob", Adds("ann")).ok());
  MadeUpClient has(*dispatcher_, "fast", "bob"), waits(*dispatcher_, "fast", "bob");
  ASSERT_TRUE(has.WasGranted());
  ASSERT_TRUE(dispatcher_->SetTrust("bob", Removes("ann")).ok());
  EXPECT_EQ(has.closed()->code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(waits.closed()->code(), absl::StatusCode::kPermissionDenied);
  ASSERT_TRUE(dispatcher_->SetTrust("bob", Adds("ann")).ok());
  MadeUpClient again(*dispatcher_, "fast", "bob");
  ASSERT_TRUE(again.WasGranted());
  ASSERT_TRUE(dispatcher_->Share(kDevice, "ann", Removes("bob")).ok());
  EXPECT_TRUE(again.closed());
  EXPECT_THAT(*store_->Leases(), IsEmpty());
}

TEST_F(DispatcherOwnersTest, LeasesFromBeforeOwnersHadASayEnd) {
  {
    const MadeUpAgent agent(*dispatcher_, nullptr, {.owner = "ann", .keys = {"fast"}});
  }
  ASSERT_TRUE(
      store_->PutLease({.token = {.epoch = 1, .number = 1}, .device = kDevice, .owner = "bob", .key = "fast"})
          .ok());
  Restart();
  EXPECT_THAT(*store_->Leases(), IsEmpty());
}

TEST_F(DispatcherOwnersTest, TwoOwnersMayHaveTheSameKey) {
  const MadeUpAgent anns(*dispatcher_, nullptr, {.id = "a", .owner = "ann", .keys = {"desk"}});
  const MadeUpAgent bobs(*dispatcher_, nullptr,
                         {.id = "b", .owner = "bob", .keys = {"desk"}, .fingerprint = "another board"});
  for (const auto& [owner, device] : {std::pair("ann", "a/cpu"), std::pair("bob", "b/cpu")})
    EXPECT_THAT(dispatcher_->Meant(owner, "desk"), ElementsAre(device));
}

TEST_F(DispatcherOwnersTest, ANewcomerOfAnotherKindIsRefusedAndNobodyElse) {
  const MadeUpAgent first(*dispatcher_, nullptr, {.id = "a", .owner = "ann", .keys = {"desk"}});
  EXPECT_EQ(MadeUpAgent::Refusal(
                *dispatcher_, {.id = "b", .owner = "ann", .keys = {"desk"}, .fingerprint = "another board"}),
            absl::FailedPreconditionError(
                "ann has a device of another kind with the key \"desk\", a/cpu: choose another --key, or let "
                "an operator forget that one with attune fleet remove a/cpu"));
  EXPECT_EQ(MadeUpAgent::Refusal(*dispatcher_, {.id = "c", .owner = "bob", .keys = {"a/cpu"}})->message(),
            "the key \"a/cpu\" is the id of another device; choose another key");
  EXPECT_EQ(MadeUpAgent::Refusal(*dispatcher_, {.id = "d", .owner = "ann", .keys = {"desk"}}), std::nullopt);
  EXPECT_EQ(Ask("ann", "desk"), std::nullopt);
  EXPECT_THAT(dispatcher_->Meant("ann", "desk"), ElementsAre("a/cpu", "d/cpu"));
}

TEST_F(DispatcherOwnersTest, WhoeverWasThereBeforeComesBack) {
  // An earlier version let both in.
  for (const char* id : {"a", "b"}) {
    const MadeUpAgent agent(*dispatcher_, nullptr,
                            {.id = id, .owner = "ann", .keys = {id}, .fingerprint = id});
    FleetDevice device = store_->Devices()->back();
    device.keys.insert("desk");
    ASSERT_TRUE(store_->PutDevice(device).ok());
  }
  Restart();
  for (const char* id : {"a", "b"})
    EXPECT_EQ(
        MadeUpAgent::Refusal(*dispatcher_, {.id = id, .owner = "ann", .keys = {"desk"}, .fingerprint = id}),
        std::nullopt);
}

TEST_F(DispatcherOwnersTest, AnOwnerWhoIsGoneLeavesNoConsent) {
  const MadeUpAgent agent(*dispatcher_, nullptr, {.owner = "ann", .keys = {"fast"}});
  ASSERT_TRUE(dispatcher_->Share(kDevice, "ann", Adds("bob")).ok());
  ASSERT_TRUE(dispatcher_->SetTrust("bob", Adds("ann")).ok());
  ASSERT_TRUE(dispatcher_->ForgetOwner("bob").ok());
  EXPECT_TRUE(Ask("bob", "fast"));
  EXPECT_THAT(dispatcher_->TrustOf("bob"), ElementsAre(kServersOwner));
}

TEST_F(DispatcherOwnersTest, BeforeADeviceJoinsNobodyKnowsWhomItServes) {
  {
    const MadeUpAgent agent(*dispatcher_, nullptr, {.keys = {"fast"}, .trusted_owners = {"ann"}});
  }
  Restart();
  EXPECT_EQ(Ask("bob", "fast"), std::nullopt);
}

}  // namespace
}  // namespace attune
