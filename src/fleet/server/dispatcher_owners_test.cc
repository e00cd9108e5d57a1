// Whose requests the dispatcher lets wait.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "base/testing/manual_clock.h"
#include "base/testing/temporary_folder.h"
#include "fleet/server/made_up_agent_for_test.h"
#include "fleet/server/made_up_client_for_test.h"
#include "fleet/store/sql_fleet_store.h"

namespace attune {
namespace {

constexpr double kLeaseSeconds = 15;

class DispatcherOwnersTest : public ::testing::Test {
 protected:
  DispatcherOwnersTest() { Restart(); }

  void Restart() {
    dispatcher_.reset();
    store_.reset();
    store_ = *SqlFleetStore::Open(folder_ / "fleet.db");
    dispatcher_ = *Dispatcher::Create(*store_, {.lease_seconds = kLeaseSeconds}, clock_);
  }

  // How a client of this owner fares who asks for the key: nothing as long as he may wait or has a device.
  std::optional<absl::Status> Ask(const std::string& owner, const std::string& key) {
    return MadeUpClient(*dispatcher_, key, owner).closed();
  }

  const testing::TemporaryFolder folder_;
  ManualClock clock_;
  std::unique_ptr<SqlFleetStore> store_;
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

TEST_F(DispatcherOwnersTest, BeforeADeviceJoinsNobodyKnowsWhomItServes) {
  {
    const MadeUpAgent agent(*dispatcher_, nullptr, {.keys = {"fast"}, .trusted_owners = {"ann"}});
  }
  Restart();
  EXPECT_EQ(Ask("bob", "fast"), std::nullopt);
}

}  // namespace
}  // namespace attune
