#include "fleet/server/fleet_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/testing/await_that.h"
#include "base/testing/temporary_folder.h"
#include "fleet/client/health.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

TEST(FleetMonitorTest, TheServerIsReadyUntilItDrains) {
  const testing::TemporaryFolder folder;
  const auto state = FleetServerState::Open({.folder = folder / "server"});
  ASSERT_TRUE(state.ok()) << state.status();
  EnrolmentService enrolment(*(*state)->admission);
  const ServiceForMembers beside;
  FleetMonitor monitor(**state, enrolment, beside);
  monitor.Stop();
  ASSERT_TRUE(monitor.Begin("127.0.0.1:0").ok());
  testing::AwaitThat([&] {
    (*state)->dispatcher->Tick();
    return ServerHealth(monitor.address()).ok();
  });
  monitor.Drain();
  const auto draining = ServerHealth(monitor.address());
  EXPECT_THAT(std::string(draining.status().message()), HasSubstr("the server is ending"));
}

}  // namespace
}  // namespace attune
