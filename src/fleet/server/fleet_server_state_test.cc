#include "fleet/server/fleet_server_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/testing/temporary_folder.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

class FleetServerStateTest : public ::testing::Test {
 protected:
  auto Open() { return FleetServerState::Open({.folder = folder_ / "server"}); }

  const testing::TemporaryFolder folder_;
};

TEST_F(FleetServerStateTest, AFolderHasOneServer) {
  auto state = Open();
  ASSERT_TRUE(state.ok()) << state.status();
  const absl::Status second = Open().status();
  EXPECT_TRUE(absl::IsFailedPrecondition(second));
  EXPECT_THAT(std::string(second.message()), HasSubstr("another server has this folder"));
  state->reset();
  EXPECT_TRUE(Open().ok());
}

TEST_F(FleetServerStateTest, TheAuthorityAndTheDevicesAreTheSameAfterwards) {
  auto state = Open();
  ASSERT_TRUE(state.ok()) << state.status();
  const std::string authority = (*state)->authority->SignerId();
  ASSERT_TRUE((*state)->store->PutDevice({.id = "desk/cpu", .agent = "desk", .owner = "ann"}).ok());
  state->reset();
  state = Open();
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ((*state)->authority->SignerId(), authority);
  ASSERT_EQ((*state)->dispatcher->Devices("").size(), 1);
  EXPECT_EQ((*state)->dispatcher->Devices("")[0].id(), "desk/cpu");
}

}  // namespace
}  // namespace attune
