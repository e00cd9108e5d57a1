// A fleet on the loopback as operators see it: calibrations, metrics and readiness.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/ip/tcp.hpp>
#include <iterator>
#include <string>

#include "base/testing/await_that.h"
#include "base/testing/temporary_folder.h"
#include "fleet/client/health.h"
#include "fleet/fleet_for_test.h"
#include "fleet/server/fleet_server.h"
#include "measure/codec.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;
using ::testing::StartsWith;

MockAnswer PeaksOfTest(const MeasureItem&) {
  MockAnswer answer;
  answer.measurement.outcome = TrialOutcome::kOk;
  answer.measurement.peaks.gflops_per_core = 7;
  return answer;
}

// All that the server answers.
std::string Get(const std::string& address, const std::string& path) {
  const size_t colon = address.rfind(':');
  boost::asio::ip::tcp::iostream stream(address.substr(0, colon), address.substr(colon + 1));
  stream << "GET " << path << " HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n" << std::flush;
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(FleetOperations, AnOperatorCalibratesADevice) {
  FleetOfTest fleet;
  const auto agent = fleet.Agent(PeaksOfTest);
  fleet.AwaitDevices(1);
  const auto owner = fleet.Operator();
  const std::string device = owner->Devices("desk")->at(0).id();
  const auto before = owner->Calibrate(device);
  ASSERT_TRUE(before.ok()) << before.status();
  EXPECT_THAT(before->calibrations(), SizeIs(0));
  // A client sees the result, but may not begin one.
  const auto client = fleet.Client("ann");
  EXPECT_EQ(client->Calibrate(device).status().code(), absl::StatusCode::kPermissionDenied);
  auto state = client->Calibrations(device);
  testing::AwaitThat([&] {
    state = client->Calibrations(device);
    return !state.ok() || !state->calibrations().empty();
  });
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(DecodeMeasurement(state->calibrations(0).measurement())->peaks.gflops_per_core, 7);
  EXPECT_EQ(owner->Calibrate("nobody").status().code(), absl::StatusCode::kNotFound);
}

TEST(FleetOperations, TheServerTellsOfItselfByHttp) {
  const testing::TemporaryFolder folder;
  FleetServerOptions options;
  options.folder = folder / "server";
  options.listen = options.enrolment = options.metrics = "127.0.0.1:0";
  const auto server = FleetServer::Start(options);
  ASSERT_TRUE(server.ok()) << server.status();
  const std::string& address = (*server)->metrics_address();
  EXPECT_THAT(Get(address, "/metrics"),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("\r\nContent-Type: text/plain; version=0.0.4"),
                    HasSubstr("\nattune_fleet_agents 0\n")));
  EXPECT_THAT(Get(address, "/readyz"), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(Get(address, "/healthz"), StartsWith("HTTP/1.1 200 "));
  const auto health = ServerHealth(address);
  ASSERT_TRUE(health.ok()) << health.status();
  EXPECT_EQ(*health, "the server is ready");
}

}  // namespace
}  // namespace attune
