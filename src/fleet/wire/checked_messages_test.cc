#include "fleet/wire/checked_messages.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "device/codec.h"
#include "fleet/leases/device_owners.h"
#include "fleet/wire/hello_for_test.h"
#include "measure/codec.h"
#include "target/target.h"

namespace attune {
namespace {

namespace proto = fleet_proto;
using Limits = std::numeric_limits<double>;

TEST(CheckedMessages, AHelloIsTakenAsItIs) {
  const auto says = Checked(HelloOfTest());
  ASSERT_TRUE(says.ok()) << says.status();
  ASSERT_EQ(says->offer.devices.size(), 1);
  const OfferedDevice& device = says->offer.devices[0];
  EXPECT_EQ(device.name, "cpu");
  EXPECT_EQ(device.fingerprint, "board");
  EXPECT_EQ(device.keys, (std::set<std::string>{"desk"}));
  EXPECT_EQ(device.owners, (std::set<std::string>{"ann"}));
  EXPECT_EQ(device.info, HelloOfTest().hello().devices(0).info());
}

TEST(CheckedMessages, WhatIsNoPartOfADeviceIsNotKept) {
  proto::FromAgent message = HelloOfTest();
  // An unknown field.
  message.mutable_hello()->mutable_devices(0)->mutable_info()->append("\xFA\x07\x03xxx");
  const auto says = Checked(message);
  ASSERT_TRUE(says.ok()) << says.status();
  EXPECT_EQ(says->offer.devices[0].info, HelloOfTest().hello().devices(0).info());
}

TEST(CheckedMessages, HellosWithoutSenseAreRefused) {
  const std::string megabyte(size_t{1} << 20, 'x');
  const std::function<void(proto::Hello&, proto::AgentDevice&)> lies[] = {
      [&](auto& hello, auto&) { hello.set_program(megabyte); },
      [](auto& hello, auto&) { hello.set_program("1.0\n\x1b[2J"); },
      [](auto& hello, auto&) { hello.clear_devices(); },
      [](auto& hello, auto&) {
        for (int i = 0; i < kMaxDevicesOfAgent; ++i) *hello.add_devices() = hello.devices(0);
      },
      [](auto& hello, auto&) { *hello.add_devices() = hello.devices(0); },
      [&](auto& hello, auto&) { hello.set_lacks(0, megabyte); },
      [](auto& hello, auto&) {
        for (int i = 0; i < kMaxLacksOfAgent; ++i) hello.add_lacks("x");
      },
      [](auto&, auto& device) { device.set_name(""); },
      [](auto&, auto& device) { device.set_name("a/b"); },
      [](auto&, auto& device) { device.set_name("a\tb"); },
      [&](auto&, auto& device) { device.set_name(megabyte); },
      [](auto&, auto& device) { device.set_keys(0, ""); },
      [](auto&, auto& device) { device.set_keys(0, "a\x01"); },
      [&](auto&, auto& device) { device.set_keys(0, megabyte); },
      [](auto&, auto& device) {
        for (int i = 0; i < kMaxKeysOfDevice; ++i) device.add_keys("x");
      },
      [&](auto&, auto& device) { device.set_sensors(0, megabyte); },
      [](auto&, auto& device) {
        for (int i = 0; i < kMaxSensors; ++i) device.add_sensors("x");
      },
      [&](auto&, auto& device) { device.set_trusted_owners(0, megabyte); },
      [](auto&, auto& device) {
        for (int i = 0; i < kMaxOwners; ++i) device.add_trusted_owners("x");
      },
      [](auto&, auto& device) { device.set_info("nonsense"); },
      [](auto&, auto& device) {
        device.set_info(EncodeDevice({.fingerprint = "a\nb",
                                      .target = *TargetByName("znver3"),
                                      .usable = {0},
                                      .processors = {{0, 0, 0}}}));
      },
  };
  for (size_t i = 0; i < std::size(lies); ++i) {
    proto::FromAgent message = HelloOfTest();
    lies[i](*message.mutable_hello(), *message.mutable_hello()->mutable_devices(0));
    const absl::Status status = Checked(message).status();
    EXPECT_FALSE(status.ok()) << i;
    EXPECT_LE(status.message().size(), 200) << i;
  }
}

TEST(CheckedMessages, ALoadIsANumber) {
  for (const double load : {-1e-9, Limits::quiet_NaN(), Limits::infinity(), 1e300}) {
    proto::FromAgent message;
    message.mutable_heartbeat()->set_load(load);
    EXPECT_TRUE(absl::IsInvalidArgument(Checked(message).status())) << load;
  }
  proto::FromAgent message;
  message.mutable_heartbeat()->set_load(17);
  EXPECT_TRUE(Checked(message).ok());
}

TEST(CheckedMessages, AResultIsAMeasurement) {
  proto::FromAgent right;
  right.mutable_result()->set_index(3);
  right.mutable_result()->add_missing(std::string(64, 'a'));
  right.mutable_result()->set_measurement(EncodeMeasurement(FailedMeasurement(TrialOutcome::kRetry, "why")));
  ASSERT_TRUE(Checked(right).ok()) << Checked(right).status();
  Measurement endless;
  endless.timing.seconds = Limits::infinity();
  const std::function<void(proto::Result&)> lies[] = {
      [](auto& result) { result.set_index(-1); },
      [](auto& result) { result.set_index(INT32_MIN); },
      [](auto& result) { result.set_missing(0, "../../x"); },
      [](auto& result) {
        for (int i = 0; i < kMaxMissingBlobs; ++i) result.add_missing(std::string(64, 'a'));
      },
      [](auto& result) { result.set_measurement("nonsense"); },
      [&](auto& result) { result.set_measurement(EncodeMeasurement(endless)); },
  };
  for (size_t i = 0; i < std::size(lies); ++i) {
    proto::FromAgent message = right;
    lies[i](*message.mutable_result());
    EXPECT_TRUE(absl::IsInvalidArgument(Checked(message).status())) << i;
  }
}

TEST(CheckedMessages, ClientsAskForKeysAndMeasureItems) {
  proto::FromClient ask;
  ask.mutable_ask()->set_version(kFleetVersion);
  for (const std::string& key : {std::string(), std::string(kMaxKeyBytes + 1, 'x'), std::string("a\nb")}) {
    ask.mutable_ask()->set_key(key);
    EXPECT_TRUE(absl::IsInvalidArgument(Check(ask))) << key;
  }
  ask.mutable_ask()->set_key("desk");
  EXPECT_TRUE(Check(ask).ok());
  ask.mutable_ask()->set_version(kFleetVersion + 1);
  EXPECT_TRUE(absl::IsFailedPrecondition(Check(ask)));

  const auto items = [](int index, const std::string& text) {
    proto::FromClient message;
    message.mutable_items()->add_items()->set_index(index);
    message.mutable_items()->mutable_items(0)->set_item(text);
    return Check(message);
  };
  const std::string item = EncodeWorkerRequest(MeasureItem{.kind = MeasureItem::Kind::kMeasurePeaks});
  EXPECT_TRUE(items(0, item).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(items(-1, item)));
  EXPECT_TRUE(absl::IsInvalidArgument(items(0, "nonsense")));
  EXPECT_TRUE(absl::IsInvalidArgument(items(0, EncodeWorkerRequest(NewBlob{std::string(64, 'a')}))));
  EXPECT_TRUE(absl::IsInvalidArgument(items(0, std::string(kMaxItemBytes + 1, 'x'))));
}

TEST(CheckedMessages, CallsHaveBounds) {
  const std::string megabyte(size_t{1} << 20, 'x');
  proto::EnrolRequest enrol;
  enrol.set_secret(megabyte);
  EXPECT_TRUE(absl::IsInvalidArgument(Check(enrol)));
  proto::RenewRequest renew;
  renew.set_certificate_request(megabyte);
  EXPECT_TRUE(absl::IsInvalidArgument(Check(renew)));
  proto::QueueRequest queue;
  for (int i = 0; i <= kMaxPromisedKeys; ++i) queue.add_promised_keys(absl::StrCat(i));
  EXPECT_TRUE(absl::IsInvalidArgument(Check(queue)));
  proto::DeviceChange change;
  change.set_reason("too\nhot");
  EXPECT_TRUE(absl::IsInvalidArgument(Check(change)));
  proto::RevokeRequest revoke;
  revoke.set_reason(megabyte);
  EXPECT_TRUE(absl::IsInvalidArgument(Check(revoke)));
}

}  // namespace
}  // namespace attune
