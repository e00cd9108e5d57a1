// The fleet's authority is replaced while agents and clients keep working.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/log.h"
#include "base/testing/await_that.h"
#include "base/testing/manual_clock.h"
#include "base/testing/temporary_folder.h"
#include "fleet/identity/peer_certificates.h"
#include "fleet/server/fleet_for_test.h"
#include "fleet/wire/channel.h"

namespace attune {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Request = fleet_proto::AuthorityRequest;

MockAnswer AnswerOfTest(const MeasureItem&) {
  MockAnswer answer;
  answer.measurement.outcome = TrialOutcome::kOk;
  answer.measurement.timing = {.seconds = 1e-3, .low = 1e-3, .high = 1e-3, .repetitions = 1};
  return answer;
}

std::string IdOf(const FleetCredentials& credentials) {
  return ReadCertificate(credentials.certificate_pem)->who.id;
}

class FleetRenewalTest : public ::testing::Test {
 protected:
  void SetUp() override { SetLogLevel(LogLevel::kOff); }  // those who are thrown out are logged
  void TearDown() override { SetLogLevel(LogLevel::kWarning); }

  // Credentials of a client, kept in a folder as commands keep them.
  FleetCredentials JoinAs(const std::string& owner) {
    const FleetCredentials credentials = fleet_.Enrol("client", owner);
    EXPECT_TRUE(SaveCredentials(folder_ / owner, credentials).ok());
    return credentials;
  }
  // Another command of that client.
  std::shared_ptr<FleetClient> CommandOf(const std::string& owner, const Clock& clock = SystemClock()) {
    const auto credentials = LoadCredentials(folder_ / owner);
    EXPECT_TRUE(credentials.ok()) << credentials.status();
    return std::make_shared<FleetClient>(*credentials, clock);
  }
  // The ids of those who have not renewed yet.
  std::vector<std::string> Behind() {
    const auto state = fleet_.Operator()->Authority();
    EXPECT_TRUE(state.ok()) << state.status();
    std::vector<std::string> ids;
    for (const auto& member : state->behind()) ids.push_back(member.id());
    return ids;
  }
  void AwaitOnlyBehind(const std::vector<std::string>& ids) {
    testing::AwaitThat([&] { return Behind() == ids; });
  }

  const testing::TemporaryFolder folder_;
  FleetOfTest fleet_;
};

TEST_F(FleetRenewalTest, IsReplacedWithoutAnybodyEnrollingAgain) {
  const auto agent = fleet_.Agent(AnswerOfTest);
  fleet_.AwaitDevices(1);
  const FleetCredentials old = JoinAs("alice");
  // A call with these does not renew them.
  const auto open = fleet_proto::Fleet::NewStub(ConnectFleet(old));
  const auto devices_by_old_certificate = [&] {
    grpc::ClientContext context;
    context.set_wait_for_ready(true);
    fleet_proto::DeviceList devices;
    return open->Devices(&context, fleet_proto::DevicesRequest(), &devices).error_code();
  };
  const auto owner = fleet_.Operator();
  EXPECT_EQ(owner->Authority()->replaced_from_ms(), 0);
  EXPECT_EQ(CommandOf("alice")->Authority(Request::REPLACE).status().code(),
            absl::StatusCode::kPermissionDenied);
  ASSERT_TRUE(owner->Authority(Request::REPLACE).ok());
  EXPECT_GT(owner->Authority()->replaced_from_ms(), 0);
  EXPECT_EQ(owner->Authority(Request::REPLACE).status().code(), absl::StatusCode::kFailedPrecondition);
  AwaitOnlyBehind({IdOf(old)});  // the agent has renewed
  fleet_.StopServer();
  fleet_.StartServer();
  fleet_.AwaitDevices(1);
  EXPECT_EQ(devices_by_old_certificate(), grpc::StatusCode::OK);
  const absl::Status refused = fleet_.Operator()->Authority(Request::FINISH).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), AllOf(HasSubstr(IdOf(old)), HasSubstr("--force")));
  const auto lasting = CommandOf("alice");
  EXPECT_TRUE(lasting->Devices("").ok());
  EXPECT_THAT(Behind(), IsEmpty());
  const auto finished = fleet_.Operator()->Authority(Request::FINISH);
  ASSERT_TRUE(finished.ok()) << finished.status();
  EXPECT_EQ(finished->replaced_from_ms(), 0);
  // New connections are made by the new one alone, and those that are open are not better.
  const auto renewed = LoadCredentials(folder_ / "alice");
  const std::string server = PeerCertificates(fleet_.address(), kNoDeadline)->at(0);
  EXPECT_FALSE(VerifyCertificate(server, old.authorities_pem).ok());
  EXPECT_TRUE(VerifyCertificate(server, renewed->authorities_pem).ok());
  EXPECT_EQ(devices_by_old_certificate(), grpc::StatusCode::PERMISSION_DENIED);
  fleet_.AwaitDevices(1);
  const auto service = RemoteMeasuringService::Open(lasting, {.key = "desk"});
  ASSERT_TRUE(service.ok()) << service.status();
  const Blob kernel = *Blob::Of("a kernel");
  ASSERT_TRUE((*service)->Put(kernel).ok());
  const auto batch =
      (*service)->Submit({{.kind = MeasureItem::Kind::kTimeKernel, .subject = kernel.digest()}});
  const auto result = batch->Next(kNoDeadline);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->second.outcome, TrialOutcome::kOk);
  EXPECT_TRUE(CommandOf("alice")->Devices("").ok());
  EXPECT_TRUE(FleetClient(fleet_.Enrol("client", "bob")).Devices("").ok());
}

// A certificate that was lost on its way would be of no use.
TEST_F(FleetRenewalTest, WhoHasNotShownTheNewCertificateIsBehind) {
  const FleetCredentials old = JoinAs("alice");
  ASSERT_TRUE(fleet_.Operator()->Authority(Request::REPLACE).ok());
  AwaitOnlyBehind({IdOf(old)});
  const auto renewed = RenewCredentials(old);
  ASSERT_TRUE(renewed.ok()) << renewed.status();
  EXPECT_THAT(Behind(), ElementsAre(IdOf(old)));
  EXPECT_TRUE(FleetClient(*renewed).Devices("").ok());
  EXPECT_THAT(Behind(), IsEmpty());
}

TEST_F(FleetRenewalTest, WhoIsThrownOutIsToldTheWayBack) {
  const FleetCredentials old = JoinAs("alice");
  const FleetCredentials pilot = fleet_.Enrol("agent", "bob");  // has no device, and so does not hinder the
                                                                // replacement
  EXPECT_EQ(fleet_.Operator()->Authority(Request::FINISH).status().code(),
            absl::StatusCode::kFailedPrecondition);
  ASSERT_TRUE(fleet_.Operator()->Authority(Request::REPLACE).ok());
  testing::AwaitThat([&] { return Behind().size() == 2; });
  EXPECT_FALSE(fleet_.Operator()->Authority(Request::FINISH).ok());
  const auto finished = fleet_.Operator()->Authority(Request::FINISH, /*is_forced=*/true);
  ASSERT_TRUE(finished.ok()) << finished.status();
  const absl::Status out = CommandOf("alice")->Devices("").status();
  EXPECT_EQ(out.code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(std::string(out.message()), AllOf(HasSubstr("was replaced"), HasSubstr("enrol again")));
}

// As the controller of Slurm's pilots does, which may run for months.
TEST_F(FleetRenewalTest, AClientThatLastsRenewsItsCertificateInTime) {
  const FleetCredentials joined = JoinAs("alice");
  ManualClock clock;
  const auto client = CommandOf("alice", clock);
  EXPECT_TRUE(client->Devices("").ok());
  EXPECT_EQ(LoadCredentials(folder_ / "alice")->certificate_pem, joined.certificate_pem);
  clock.Advance(1e-3 * static_cast<double>(*RenewalMillis(joined)));
  EXPECT_TRUE(client->Devices("").ok());
  const auto renewed = LoadCredentials(folder_ / "alice");
  EXPECT_NE(renewed->certificate_pem, joined.certificate_pem);
  EXPECT_EQ(client->connection().credentials().certificate_pem, renewed->certificate_pem);
  EXPECT_EQ(IdOf(*renewed), IdOf(joined));
  EXPECT_TRUE(client->Devices("").ok());
}

}  // namespace
}  // namespace attune
