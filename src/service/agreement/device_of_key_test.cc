#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "device/codec.h"
#include "fleet/serving/made_up_devices_for_test.h"
#include "service/agreement/device_rates.h"
#include "target/target.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

class DeviceOfKeyTest : public ::testing::Test {
 protected:
  static std::string Info(const std::string& fingerprint) {
    return EncodeDevice({.fingerprint = fingerprint,
                         .target = *TargetByName("x86-64-v3"),
                         .usable = {0},
                         .processors = {{.number = 0}}});
  }
  absl::StatusOr<DeviceOfKey> Find(const std::string& key) const {
    return FindDeviceOfKey(devices_, "ann", key);
  }

  MadeUpDevices devices_;
};

TEST_F(DeviceOfKeyTest, AllThatAreThereCount) {
  devices_.Add("a/cpu", "desk", Info("board"));
  devices_.Add("b/cpu", "desk", Info("board"));
  devices_.Add("c/cpu", "desk", Info("board"));
  devices_.Add("d/cpu", "attic", Info("board"));
  devices_.At(2).set_is_there(false);
  const auto device = Find("desk");
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ(device->count, 2);
  EXPECT_EQ(device->info.fingerprint, "board");
  EXPECT_TRUE(device->is_one_kind);
}

TEST_F(DeviceOfKeyTest, SeveralKindsMayHaveOneKey) {
  devices_.Add("a/cpu", "desk", Info("board"));
  devices_.Add("b/cpu", "desk", Info("another board"));
  EXPECT_EQ(Find("desk")->count, 2);
  EXPECT_FALSE(Find("desk")->is_one_kind);
}

TEST_F(DeviceOfKeyTest, WithoutADeviceNothingCanBePromised) {
  EXPECT_THAT(Find("attic").status().message(), HasSubstr("/on: no device has the key \"attic\""));
  EXPECT_TRUE(absl::IsNotFound(Find("").status()));
  devices_.Add("a/cpu", "desk", Info("board"));
  devices_.At(0).set_is_there(false);
  EXPECT_THAT(Find("desk").status().message(), HasSubstr("so that nothing can be promised"));
  // Nor by one that says what makes no sense.
  devices_.At(0).set_is_there(true);
  devices_.At(0).set_info("nonsense");
  EXPECT_TRUE(absl::IsNotFound(Find("desk").status()));
}

}  // namespace
}  // namespace attune
