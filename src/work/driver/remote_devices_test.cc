#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "work/driver/host_table.h"
#include "work/sched/resources.h"

namespace attune {
namespace {

using ::testing::Optional;

TEST(RemoteDevices, ADeviceThatNobodyHoldsGoesAtOnce) {
  RemoteDevices devices;
  EXPECT_TRUE(devices.Remove(7));
  devices.Hold(7, 1);
  EXPECT_EQ(devices.Release(1), std::nullopt);  // it is still there
  EXPECT_TRUE(devices.Remove(7));
}

TEST(RemoteDevices, ADeviceInUseGoesWhenItsJobReleasesIt) {
  RemoteDevices devices;
  devices.Hold(7, 1);
  devices.Hold(8, 2);
  EXPECT_FALSE(devices.Remove(7));
  EXPECT_EQ(devices.Release(2), std::nullopt);
  EXPECT_THAT(devices.Release(1), Optional(7));
  EXPECT_EQ(devices.Release(1), std::nullopt);
}

TEST(RemoteDevices, MeasureForOneStageAtATimeByWhicheverKey) {
  ResourceLedger ledger;
  ledger.AddHost({.slots = RemoteDeviceSlots({"desk", "id"})});
  const StageNeeds desk = {.needs = RemoteDeviceNeeds("desk")}, id = {.needs = RemoteDeviceNeeds("id")};
  EXPECT_FALSE(ledger.Take({.needs = RemoteDeviceNeeds("attic")}).has_value());
  const std::optional<Holding> holding = ledger.Take(desk);
  ASSERT_TRUE(holding.has_value());
  EXPECT_FALSE(ledger.Take(desk).has_value());
  EXPECT_FALSE(ledger.Take(id).has_value());
  ledger.Release(*holding);
  EXPECT_TRUE(ledger.Take(id).has_value());
}

}  // namespace
}  // namespace attune
