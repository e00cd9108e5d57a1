#include "fleet/leases/device_owners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DeviceOwnersTest : public ::testing::Test {
 protected:
  DeviceOwners owners_;
};

TEST_F(DeviceOwnersTest, BothSidesConsent) {
  owners_.Put("a/cpu", "ann", {"desk"}, {});
  EXPECT_TRUE(owners_.MayUse("a/cpu", "ann"));
  EXPECT_FALSE(owners_.MayUse("a/cpu", "bob"));
  EXPECT_TRUE(owners_.MayUse("a/cpu", kFleetItself));  // which runs only the fleet's code
  owners_.Put("a/cpu", "ann", {"desk"}, {"bob"});
  EXPECT_TRUE(owners_.IsShared("a/cpu", "bob"));
  EXPECT_FALSE(owners_.MayUse("a/cpu", "bob"));
  EXPECT_EQ(owners_.Distrusted("bob", "desk"), "ann");
  owners_.SetTrust("bob", {"ann"});
  EXPECT_TRUE(owners_.MayUse("a/cpu", "bob"));
  EXPECT_EQ(owners_.Distrusted("bob", "desk"), std::nullopt);
  EXPECT_FALSE(owners_.MayUse("a/cpu", "eve"));
  EXPECT_FALSE(owners_.MayUse("unknown", "ann"));
}

TEST_F(DeviceOwnersTest, TheServersDevicesAreForAllWhoDoNotSayOtherwise) {
  owners_.Put("s/cpu", kServersOwner, {"desk"}, DefaultSharing(kServersOwner));
  EXPECT_TRUE(owners_.MayUse("s/cpu", "bob"));
  owners_.SetTrust("bob", {});
  EXPECT_FALSE(owners_.MayUse("s/cpu", "bob"));
  EXPECT_THAT(DefaultSharing("ann"), IsEmpty());
}

TEST_F(DeviceOwnersTest, AKeyMeansOnesOwnDevicesFirst) {
  owners_.Put("s/cpu", kServersOwner, {"desk"}, {kEveryOwner});
  owners_.Put("a/cpu", "ann", {"desk", "board"}, {kEveryOwner});
  owners_.Put("e/cpu", "eve", {"board"}, {kEveryOwner});
  owners_.SetTrust("bob", {kServersOwner, "ann", "eve"});
  EXPECT_THAT(owners_.Meant("ann", "desk"), ElementsAre("a/cpu"));
  EXPECT_THAT(owners_.Meant("bob", "desk"), ElementsAre("s/cpu"));
  EXPECT_THAT(owners_.Meant("bob", "board"), ElementsAre("a/cpu"));
  EXPECT_THAT(owners_.Meant("bob", "eve/board"), ElementsAre("e/cpu"));
  EXPECT_THAT(owners_.Meant("bob", "ann/desk"), ElementsAre("a/cpu"));
  EXPECT_THAT(owners_.Meant("bob", "e/cpu"), ElementsAre("e/cpu"));
  EXPECT_THAT(owners_.Meant("eve", "ann/desk"), IsEmpty());  // whom she does not trust
  owners_.Remove("s/cpu");
  EXPECT_THAT(owners_.Meant("bob", "desk"), ElementsAre("a/cpu"));
  owners_.Put("b/cpu", "bob", {"desk"}, {});
  EXPECT_THAT(owners_.Meant("bob", "desk"), ElementsAre("b/cpu"));
}

TEST_F(DeviceOwnersTest, OtherDevicesWithAKeyAreThoseOfTheSameOwner) {
  owners_.Put("a/cpu", "ann", {"desk"}, {});
  EXPECT_EQ(owners_.OtherWithKey("ann", "desk", "a/cpu"), std::nullopt);
  EXPECT_EQ(owners_.OtherWithKey("ann", "desk", "b/cpu"), "a/cpu");
  EXPECT_EQ(owners_.OtherWithKey("bob", "desk", "b/cpu"), std::nullopt);
}

}  // namespace
}  // namespace attune
