// For tests of the fleet's store: one in each kind of database, and what it may keep.
#ifndef ATTUNE_FLEET_STORE_FLEET_STORE_FOR_TEST_H_
#define ATTUNE_FLEET_STORE_FLEET_STORE_FOR_TEST_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/file.h"
#include "base/sql/testing/database_for_test.h"
#include "fleet/store/fleet_store.h"

namespace attune {

inline CertificateFacts SampleFacts(const std::string& serial, const std::string& id, int64_t end_ms = 2000) {
  return {.who = {.role = FleetRole::kAgent, .owner = "ann", .id = id},
          .serial = serial,
          .begin_ms = 1000,
          .end_ms = end_ms,
          .authority = "ca"};
}

inline PendingInvitation SampleInvitation(const std::string& secret, int64_t end_ms) {
  return {.digest = Sha256Hex(secret), .role = FleetRole::kAgent, .owner = "ann", .end_ms = end_ms};
}

inline HeldLease SampleLease(const std::string& device, const LeaseToken& token) {
  return {.token = token, .device = device, .owner = "ann", .key = "zen4"};
}

inline FleetDevice SampleDevice(const std::string& id) {
  return {.id = id,
          .agent = "desk",
          .owner = "ann",
          .keys = {"some-processor/znver4/l1-32k", "any"},
          .info = std::string("\0\xFF\n\0", 4),
          .last_seen_ms = 5};
}

class FleetStoreTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_DATABASE(location_);
    Reopen();
  }

  // Ends the store, as the end of the server does, and opens it again.
  void Reopen() {
    store_.reset();
    auto store = FleetStore::Open(*location_);
    ASSERT_TRUE(store.ok()) << store.status();
    store_ = *std::move(store);
  }

  const testing::LocationForTest location_{GetParam()};
  std::unique_ptr<FleetStore> store_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_STORE_FLEET_STORE_FOR_TEST_H_
