#include "fleet/server/device_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/testing/temporary_folder.h"
#include "fleet/store/fleet_store.h"
#include "fleet/wire/checked_messages.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DeviceRegistryTest : public ::testing::Test {
 protected:
  DeviceRegistryTest() { Restart(); }

  void Restart() {
    registry_ = std::make_unique<DeviceRegistry>(*store_);
    ASSERT_TRUE(registry_->Load().ok());
  }
  // A device of the agent "ID" joins as "ID/cpu", whose kind has this fingerprint.
  absl::Status Join(const std::string& agent, const std::string& owner, const std::set<std::string>& keys,
                    const std::string& fingerprint = "board") {
    return registry_->Join({.id = agent + "/cpu", .agent = agent, .owner = owner, .keys = keys}, fingerprint)
        .status();
  }
  // Whether all that the store has is known, and nothing else.
  void ExpectAsStored() {
    const auto stored = store_->Devices();
    ASSERT_TRUE(stored.ok());
    ASSERT_EQ(stored->size(), registry_->all().size());
    for (const FleetDevice& device : *stored) EXPECT_EQ(registry_->all().at(device.id), device);
  }
  static OwnersChange Adds(const std::string& owner) {
    return [owner](std::set<std::string>& owners) { owners.insert(owner); };
  }
  // As if all devices took work of everybody.
  absl::Status CheckKey(const std::string& key, const std::string& owner, double now = 0) {
    return registry_->CheckKey(key, owner, [](const std::string&, const std::string&) { return true; }, now);
  }

  const testing::TemporaryFolder folder_;
  const std::unique_ptr<FleetStore> store_ = *FleetStore::Open(folder_ / "fleet.db");
  std::unique_ptr<DeviceRegistry> registry_;
};

TEST_F(DeviceRegistryTest, ADeviceThatJoinsAgainStaysAsItsOwnerAndOperatorDecided) {
  ASSERT_TRUE(Join("desk", "ann", {"fast"}).ok());
  EXPECT_THAT(registry_->Find("desk/cpu")->keys, ElementsAre("board", "desk/cpu", "fast"));
  ASSERT_TRUE(registry_->SetDrained("desk/cpu", "it is hot").ok());
  ASSERT_TRUE(registry_->Share("desk/cpu", "ann", Adds("bob")).ok());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(Join("desk", "ann", {"faster"}).ok());
    const FleetDevice& device = *registry_->Find("desk/cpu");
    EXPECT_EQ(device.drained, "it is hot");
    EXPECT_THAT(device.shared_with, ElementsAre("bob"));
    EXPECT_TRUE(registry_->owners().IsShared("desk/cpu", "bob"));
    EXPECT_THAT(registry_->owners().Meant("ann", "faster"), ElementsAre("desk/cpu"));
    EXPECT_THAT(registry_->owners().Meant("ann", "fast"), IsEmpty());
    ExpectAsStored();
    Restart();
  }
  ASSERT_TRUE(registry_->SetDrained("desk/cpu", std::nullopt).ok());
  EXPECT_EQ(registry_->Find("desk/cpu")->drained, std::nullopt);
  ExpectAsStored();
}

TEST_F(DeviceRegistryTest, AChangeThatTheStoreRefusesHasNoEffect) {
  ASSERT_TRUE(Join("desk", "ann", {"fast"}).ok());
  EXPECT_FALSE(registry_->SetDrained("desk/cpu", "").ok());
  EXPECT_FALSE(registry_->Share("desk/cpu", "ann", Adds("two\nlines")).ok());
  EXPECT_FALSE(registry_->SetTrust("bob", Adds("")).ok());
  EXPECT_FALSE(Join("rack", "ann", {"two\nlines"}).ok());
  EXPECT_FALSE(Join("desk", "ann", {"two\nlines"}).ok());
  ExpectAsStored();
  EXPECT_THAT(registry_->owners().TrustOf("bob"), ElementsAre(kServersOwner));
  EXPECT_THAT(registry_->owners().Meant("ann", "fast"), ElementsAre("desk/cpu"));
}

TEST_F(DeviceRegistryTest, OneKindOfDeviceHasAKeyOfAnOwner) {
  ASSERT_TRUE(Join("desk", "ann", {"fast"}).ok());
  EXPECT_TRUE(Join("rack", "ann", {"fast"}).ok());
  EXPECT_TRUE(Join("b", "bob", {"fast"}, "another board").ok());
  EXPECT_EQ(Join("shelf", "ann", {"fast"}, "another board").code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Join("shelf", "ann", {"desk/cpu"}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(registry_->Find("shelf/cpu"), nullptr);
  ExpectAsStored();
}

TEST_F(DeviceRegistryTest, AnAgentHasAtMostSoManyDevices) {
  std::set<std::string> ids;
  for (int i = 0; i < kMaxDevicesOfAgent; ++i) ids.insert(absl::StrCat("desk/", i));
  EXPECT_TRUE(registry_->CheckRoom("desk", ids).ok());
  ASSERT_TRUE(Join("desk", "ann", {}).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(registry_->CheckRoom("desk", ids)));
  EXPECT_TRUE(registry_->CheckRoom("rack", ids).ok());
}

TEST_F(DeviceRegistryTest, UnknownDevicesAreErrors) {
  EXPECT_TRUE(absl::IsNotFound(registry_->SetDrained("desk/cpu", "it is hot")));
  EXPECT_TRUE(absl::IsNotFound(registry_->Remove("desk/cpu")));
  ASSERT_TRUE(Join("desk", "ann", {}).ok());
  EXPECT_TRUE(absl::IsNotFound(registry_->Share("desk/cpu", "bob", Adds("bob")).status()));
  ASSERT_TRUE(registry_->Remove("desk/cpu").ok());
  EXPECT_EQ(registry_->Find("desk/cpu"), nullptr);
  EXPECT_EQ(registry_->owners().OwnerOf("desk/cpu"), "");
  ExpectAsStored();
}

TEST_F(DeviceRegistryTest, AKeyIsServedIfBothSidesConsentOrDevicesArePromised) {
  ASSERT_TRUE(Join("desk", "ann", {"fast"}).ok());
  EXPECT_TRUE(CheckKey("fast", "ann").ok());
  EXPECT_TRUE(absl::IsNotFound(CheckKey("fast", "bob")));
  ASSERT_TRUE(registry_->Share("desk/cpu", "ann", Adds("bob")).ok());
  const absl::Status distrusted = CheckKey("fast", "bob");
  EXPECT_TRUE(absl::IsPermissionDenied(distrusted));
  EXPECT_THAT(std::string(distrusted.message()), HasSubstr("attune fleet trust ann allows it"));
  ASSERT_TRUE(registry_->SetTrust("bob", Adds("ann")).ok());
  EXPECT_TRUE(CheckKey("fast", "bob").ok());
  const auto serves_nobody = [](const std::string&, const std::string&) { return false; };
  EXPECT_TRUE(absl::IsPermissionDenied(registry_->CheckKey("fast", "bob", serves_nobody, 0)));
  ASSERT_TRUE(registry_->ForgetOwner("bob").ok());
  EXPECT_TRUE(absl::IsNotFound(CheckKey("fast", "bob")));
  ASSERT_TRUE(registry_->Promise("fast", 0).ok());
  EXPECT_TRUE(CheckKey("fast", "bob").ok());
  EXPECT_FALSE(CheckKey("fast", "bob", PromisedKeys::kPromiseSeconds).ok());
  ExpectAsStored();
}

}  // namespace
}  // namespace attune
