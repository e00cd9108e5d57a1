#include "device/codec.h"

#include <gtest/gtest.h>

namespace attune {
namespace {

DeviceInfo Board() {
  DeviceInfo device = {
      .fingerprint = "board", .target = *TargetByName("znver3"), .usable = {1, 5}, .processors = {}};
  device.target.l3_bytes = 123;
  device.target.cores = 2;
  for (const int number : {0, 1, 4, 5}) device.processors.push_back({number, number & ~1, 0});
  return device;
}

TEST(DeviceCodecTest, ADeviceStaysTheSame) {
  const auto decoded = DecodeDevice(EncodeDevice(Board()));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_TRUE(*decoded == Board());
}

TEST(DeviceCodecTest, ADeviceThatContradictsItselfIsRefused) {
  DeviceInfo absent = Board(), twice = Board(), none = Board(), unordered = Board();
  absent.usable = {2};
  twice.usable = {1, 1};
  none.usable = {};
  std::swap(unordered.processors[0], unordered.processors[1]);
  for (const DeviceInfo& device : {absent, twice, none, unordered})
    EXPECT_TRUE(absl::IsDataLoss(DecodeDevice(EncodeDevice(device)).status()));
}

TEST(DeviceCodecTest, DamagedMessagesAreRefused) {
  const std::string message = EncodeDevice(Board());
  for (size_t i = 0; i < message.size(); ++i) {
    EXPECT_FALSE(DecodeDevice(message.substr(0, i)).ok()) << i;
    std::string changed = message;
    changed[i] = static_cast<char>(changed[i] ^ 0x55);
    (void)DecodeDevice(changed);  // must not crash
  }
}

}  // namespace
}  // namespace attune
