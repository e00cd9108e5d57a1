// A fleet on the loopback as operators see it: calibrations, metrics and readiness.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <iterator>
#include <memory>
#include <string>

#include "base/status.h"
#include "base/testing/await_that.h"
#include "base/testing/temporary_folder.h"
#include "fleet/client/health.h"
#include "fleet/server/fleet_for_test.h"
#include "fleet/server/fleet_server.h"
#include "fleet/wire/channel.h"
#include "fleet/wire/fleet.grpc.pb.h"
#include "fleet/wire/rpc_status.h"
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

// An upload of nothing.
absl::Status Upload(fleet_proto::Fleet::Stub& stub) {
  grpc::ClientContext context;
  fleet_proto::BlobState state;
  const auto pieces = stub.SendBlob(&context, &state);
  pieces->WritesDone();
  return FromRpc(pieces->Finish());
}

// A server without services beside it.
absl::StatusOr<std::unique_ptr<FleetServer>> Serve(const FleetServerOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<FleetServer> server, FleetServer::Open(options));
  RETURN_IF_ERROR(server->Listen());
  RETURN_IF_ERROR(server->Begin());
  return server;
}

// One that begins and says nothing.
struct SilentUpload {
  grpc::ClientContext context;
  fleet_proto::BlobState state;
  std::unique_ptr<grpc::ClientWriter<fleet_proto::BlobPiece>> pieces;
};

TEST(FleetOperations, CallsThatSayNothingHoldNobodyUp) {
  const testing::TemporaryFolder folder;
  FleetServerOptions options;
  options.folder = folder / "server";
  options.listen = options.enrolment = "127.0.0.1:0";
  options.file_calls = {.of_member = 3, .idle_seconds = 5};
  const auto server = Serve(options);
  ASSERT_TRUE(server.ok()) << server.status();
  FleetClient owner(*LoadCredentials(OperatorFolder(options.folder)));
  const auto enrol = [&](const std::string& name) {
    return fleet_proto::Fleet::NewStub(
        ConnectFleet(*EnrolInFleet(*Invitation::Parse(*owner.Invite("client", name)))));
  };
  const auto eve = enrol("eve"), bob = enrol("bob");
  std::array<SilentUpload, 3> silent;
  for (SilentUpload& upload : silent) upload.pieces = eve->SendBlob(&upload.context, &upload.state);
  absl::Status refused;
  testing::AwaitThat([&] {
    refused = Upload(*eve);
    return !refused.ok();
  });
  EXPECT_TRUE(absl::IsResourceExhausted(refused)) << refused;
  EXPECT_THAT(refused.message(), HasSubstr("at most 3 files at a time"));
  EXPECT_TRUE(Upload(*bob).ok());
  EXPECT_TRUE(owner.Devices("").ok());
  for (SilentUpload& upload : silent)
    EXPECT_EQ(upload.pieces->Finish().error_code(), grpc::StatusCode::CANCELLED);
  testing::AwaitThat([&] { return Upload(*eve).ok(); });
}

TEST(FleetOperations, TheServerTellsOfItselfByHttp) {
  const testing::TemporaryFolder folder;
  FleetServerOptions options;
  options.folder = folder / "server";
  options.listen = options.enrolment = options.metrics = "127.0.0.1:0";
  const auto server = Serve(options);
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
