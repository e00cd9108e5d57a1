#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/leases/fleet_leases.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(FreeDevicesTest, ADeviceIsFoundUnderEachOfItsKeys) {
  FreeDevices free;
  free.Put("a", {"desk", "any"}, 10);
  free.Put("b", {"any"}, 10);
  EXPECT_THAT(free.WithKey("any"), ElementsAre("a", "b"));
  EXPECT_THAT(free.WithKey("desk"), ElementsAre("a"));
  EXPECT_THAT(free.WithKey("rack"), IsEmpty());
  free.Put("a", {"rack"}, 10);
  EXPECT_THAT(free.WithKey("any"), ElementsAre("b"));
  EXPECT_THAT(free.WithKey("desk"), IsEmpty());
  EXPECT_THAT(free.WithKey("rack"), ElementsAre("a"));
  free.Erase("b");
  free.Erase("b");
  EXPECT_THAT(free.WithKey("any"), IsEmpty());
  EXPECT_FALSE(free.empty());
  free.Erase("a");
  EXPECT_TRUE(free.empty());
}

TEST(FreeDevicesTest, ADeviceExpiresUnlessItIsPutAgain) {
  FreeDevices free;
  free.Put("a", {"desk"}, 10);
  free.Put("b", {"desk"}, 10);
  free.Put("a", {"desk"}, 20);
  free.EraseExpired(9);
  EXPECT_THAT(free.WithKey("desk"), ElementsAre("a", "b"));
  free.EraseExpired(10);
  EXPECT_THAT(free.WithKey("desk"), ElementsAre("a"));
  free.EraseExpired(20);
  EXPECT_TRUE(free.empty());
  free.Put("a", {"desk"}, 30);
  EXPECT_THAT(free.WithKey("desk"), ElementsAre("a"));
}

TEST(FreeDevicesTest, ADeviceWithoutKeysIsFree) {
  FreeDevices free;
  free.Put("a", {}, 10);
  EXPECT_FALSE(free.empty());
  free.EraseExpired(10);
  EXPECT_TRUE(free.empty());
}

}  // namespace
}  // namespace attune
