// For tests: leases of a made-up device.
#ifndef ATTUNE_DEVICE_LEASES_FOR_TEST_H_
#define ATTUNE_DEVICE_LEASES_FOR_TEST_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "device/device.h"
#include "device/lease.h"

namespace attune {

inline const LeaseWait kNoWait = {.seconds = 0};

// Four cores of two hyper-threads, {0, 4} and so on; cores 0 and 1 share a cache, and so do 2 and 3.
inline DeviceInfo EightProcessors() {
  DeviceInfo device;
  for (int number = 0; number < 8; ++number) {
    const int core = number % 4;
    device.usable.push_back(number);
    device.processors.push_back({.number = number, .core = core, .cache = core < 2 ? 0 : 2});
  }
  return device;
}

inline DeviceLeases MustOpen(const std::string& folder, LeaseTime time = {},
                             DeviceInfo device = EightProcessors()) {
  absl::StatusOr<DeviceLeases> leases = DeviceLeases::Open(std::move(device), folder, std::move(time));
  EXPECT_TRUE(leases.ok()) << leases.status();
  return *std::move(leases);
}

}  // namespace attune

#endif  // ATTUNE_DEVICE_LEASES_FOR_TEST_H_
