// The server, agents and clients together, over the loopback.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "base/log.h"
#include "fleet/server/fleet_for_test.h"
#include "fleet/server/proxy_for_test.h"
#include "fleet/wire/channel.h"
#include "fleet/wire/checked_messages.h"
#include "fleet/wire/fleet.grpc.pb.h"

namespace attune {
namespace {

Measurement Ok(double seconds) {
  Measurement measurement;
  measurement.outcome = TrialOutcome::kOk;
  measurement.timing = {.seconds = seconds, .low = seconds, .high = seconds, .repetitions = 1};
  return measurement;
}

// Answers every item after `seconds`, and counts how often it was asked for each subject.
class Bench {
 public:
  explicit Bench(double seconds) : seconds_(seconds) {}
  MockDeviceHost::Answer Answer() {
    return [this](const MeasureItem& item) {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++counts_[item.subject];
      return MockAnswer{.seconds = seconds_, .measurement = Ok(1e-3)};
    };
  }
  std::map<std::string, int> counts() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return counts_;
  }
  size_t total() const { return counts().size(); }

 private:
  const double seconds_;
  mutable std::mutex mutex_;
  std::map<std::string, int> counts_;
};

class FleetTest : public ::testing::Test {
 protected:
  explicit FleetTest(double lease_seconds = 1) : fleet_(nullptr, lease_seconds) {}

  void SetUp() override {
    SetLogLevel(LogLevel::kError);
  }  // what is lost and found again is logged as a warning
  void TearDown() override { SetLogLevel(LogLevel::kWarning); }

  std::unique_ptr<RemoteMeasuringService> Service(const std::string& owner) {
    auto service = RemoteMeasuringService::Open(fleet_.Client(owner), {.key = "desk"});
    EXPECT_TRUE(service.ok()) << service.status();
    return *std::move(service);
  }
  // `count` kernels to time, whose blobs the service has got.
  static std::vector<MeasureItem> Items(MeasuringService& service, int count) {
    std::vector<MeasureItem> items;
    for (int i = 0; i < count; ++i) {
      const Blob blob = *Blob::Of("kernel " + std::to_string(i));
      EXPECT_TRUE(PutMissing(service, blob).ok());
      items.push_back({.kind = MeasureItem::Kind::kTimeKernel, .subject = blob.digest()});
    }
    return items;
  }
  // The outcomes of all items, by index.
  static std::map<size_t, TrialOutcome> Outcomes(MeasureBatch& batch) {
    std::map<size_t, TrialOutcome> outcomes;
    while (!batch.is_over()) {
      const auto result = batch.Next(kNoDeadline);
      if (!result) continue;
      EXPECT_TRUE(outcomes.emplace(result->first, result->second.outcome).second) << "two results";
    }
    return outcomes;
  }
  static void ExpectAllOk(MeasureBatch& batch, size_t count) {
    const auto outcomes = Outcomes(batch);
    EXPECT_EQ(outcomes.size(), count);
    for (const auto& [index, outcome] : outcomes) EXPECT_EQ(outcome, TrialOutcome::kOk) << index;
  }

  FleetOfTest fleet_;
};

// A fleet whose leases outlast whatever a busy machine is doing.
class LongLeasesTest : public FleetTest {
 protected:
  LongLeasesTest() : FleetTest(3600) {}
};

TEST_F(FleetTest, AClientMeasuresOnADevice) {
  Bench bench(0);
  const auto agent = fleet_.Agent(bench.Answer());
  fleet_.AwaitDevices(1);
  const auto service = Service("alice");
  EXPECT_EQ(service->device().fingerprint, "board");
  EXPECT_EQ(fleet_.Operator()->Devices("desk")->at(0).sensors(0), "frequency");
  const auto batch = service->Submit(Items(*service, 20));
  ExpectAllOk(*batch, 20);
  EXPECT_EQ(bench.total(), 20);
}

TEST_F(FleetTest, StreamsThatLieOrAreCutHarmNobodyElse) {
  Bench bench(0);
  const auto agent = fleet_.Agent(bench.Answer());
  fleet_.AwaitDevices(1);
  const auto stub = fleet_proto::Fleet::NewStub(ConnectFleet(fleet_.Enrol("agent", "eve")));
  constexpr int kStreams = 20;
  for (int i = 0; i < kStreams; ++i) {
    grpc::ClientContext context;
    const auto stream = stub->Serve(&context);
    fleet_proto::FromAgent message;
    if (i % 2 == 0) {
      message.mutable_hello()->set_version(kFleetVersion);
      message.mutable_hello()->set_program(std::string(size_t{32} << 20, 'x'));
    } else {
      message.mutable_heartbeat()->set_load(-1);
    }
    stream->Write(message);
    if (i % 4 == 3) context.TryCancel();
    fleet_proto::ToAgent answer;
    while (stream->Read(&answer)) {
    }
    const grpc::Status ended = stream->Finish();
    if (i % 4 != 3)
      EXPECT_EQ(ended.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << ended.error_message();
  }
  const auto service = Service("alice");
  const auto batch = service->Submit(Items(*service, 5));
  ExpectAllOk(*batch, 5);
}

TEST_F(FleetTest, OutputsOfANetworkMayBeLarge) {
  constexpr size_t kBytes = size_t{48} << 20;
  const auto agent = fleet_.Agent([](const MeasureItem&) {
    MockAnswer answer = {.measurement = Ok(1)};
    answer.measurement.outputs = {{.shape = {kBytes}, .bytes = std::string(kBytes, 'x')}};
    return answer;
  });
  fleet_.AwaitDevices(1);
  const auto service = Service("alice");
  const auto batch = service->Submit(Items(*service, 1));
  const auto result = batch->Next(kNoDeadline);
  ASSERT_TRUE(result.has_value());
  ASSERT_EQ(result->second.outputs.size(), 1);
  EXPECT_EQ(result->second.outputs[0].bytes.size(), kBytes);
}

TEST_F(FleetTest, DevicesWithOneKeyShareABatch) {
  Bench first(0), second(0);
  // Each waits until the other has got something.
  const auto with = [](Bench& own, Bench& other) {
    return [&other, answer = own.Answer()](const MeasureItem& item) {
      MockAnswer answered = answer(item);
      testing::AwaitThat([&] { return other.total() > 0; });
      return answered;
    };
  };
  const auto agent = fleet_.Agent(with(first, second)), other = fleet_.Agent(with(second, first));
  fleet_.AwaitDevices(2);
  const auto service = Service("alice");
  const auto batch = service->Submit(Items(*service, 40));
  ExpectAllOk(*batch, 40);
  EXPECT_EQ(first.total() + second.total(), 40);
  EXPECT_GT(first.total(), 0);
  EXPECT_GT(second.total(), 0);
}

TEST_F(FleetTest, CandidatesKnowTheTimeOfABaselineThatAnotherDeviceHasMeasured) {
  std::atomic<int> without = 0;
  const auto answer = [&](const MeasureItem& item) {
    if (!item.baseline.empty() && item.baseline_seconds == 0) ++without;
    return MockAnswer{.seconds = 0.01, .measurement = Ok(1e-3)};
  };
  const auto agent = fleet_.Agent(answer), other = fleet_.Agent(answer);
  fleet_.AwaitDevices(2);
  const auto service = Service("alice");
  std::vector<MeasureItem> items = Items(*service, 20);
  for (MeasureItem& item : items) item.baseline = items.front().subject;
  ExpectAllOk(*service->Submit(items), 20);
  EXPECT_EQ(without, 0);
}

TEST_F(FleetTest, ItemsOfALostDeviceAreMeasuredElsewhere) {
  Bench first(0.05), second(0.05);
  auto agent = fleet_.Agent(first.Answer());
  fleet_.AwaitDevices(1);
  const auto service = Service("alice");
  const auto batch = service->Submit(Items(*service, 30));
  while (first.total() < 3) std::this_thread::yield();
  agent.reset();
  const auto other = fleet_.Agent(second.Answer());
  ExpectAllOk(*batch, 30);
  EXPECT_GE(first.total() + second.total(), 30);
}

TEST_F(LongLeasesTest, AServerThatStartsAgainLosesNothing) {
  Bench bench(0.05);
  const auto agent = fleet_.Agent(bench.Answer());
  fleet_.AwaitDevices(1);
  const auto service = Service("alice");
  const auto batch = service->Submit(Items(*service, 30));
  while (bench.total() < 3) std::this_thread::yield();
  fleet_.StopServer();
  fleet_.StartServer();
  ExpectAllOk(*batch, 30);
  EXPECT_EQ(bench.total(), 30);
  for (const auto& [subject, count] : bench.counts()) EXPECT_EQ(count, 1) << subject;
}

TEST_F(FleetTest, ABadNetworkLosesNothing) {
  Bench bench(0.01);
  ProxyOfTest agents(fleet_.address()), clients(fleet_.address());
  const auto agent = fleet_.Agent(bench.Answer(), agents.address());
  fleet_.AwaitDevices(1);
  FleetCredentials credentials = fleet_.Enrol("client", "alice");
  credentials.server = clients.address();
  const auto service =
      RemoteMeasuringService::Open(std::make_shared<FleetClient>(credentials), {.key = "desk"});
  ASSERT_TRUE(service.ok()) << service.status();
  const auto batch = (*service)->Submit(Items(**service, 100));
  const TroubleOfTest trouble({&agents, &clients});
  ExpectAllOk(*batch, 100);
  EXPECT_EQ(bench.total(), 100);
  EXPECT_GT(trouble.num_faults(), 0);
}

TEST_F(FleetTest, ASlowNetworkIsNoFault) {
  Bench bench(0);
  ProxyOfTest agents(fleet_.address());
  const auto agent = fleet_.Agent(bench.Answer(), agents.address());
  fleet_.AwaitDevices(1);
  agents.Delay(std::chrono::milliseconds(50));
  const auto service = Service("alice");
  ExpectAllOk(*service->Submit(Items(*service, 5)), 5);
}

TEST_F(FleetTest, ABatchThatIsCancelledGivesTheDeviceBack) {
  Bench bench(0.05);
  const auto agent = fleet_.Agent(bench.Answer());
  fleet_.AwaitDevices(1);
  const auto service = Service("alice");
  {
    const auto batch = service->Submit(Items(*service, 200));
    while (bench.total() < 2) std::this_thread::yield();
    batch->Cancel();
    const auto outcomes = Outcomes(*batch);
    EXPECT_EQ(outcomes.size(), 200);
    EXPECT_GT(std::ranges::count(outcomes, TrialOutcome::kRetry, [](const auto& o) { return o.second; }), 0);
  }
  ExpectAllOk(*service->Submit(Items(*service, 3)), 3);
  EXPECT_LT(bench.total(), 200);
}

TEST_F(FleetTest, AnUnknownKeyIsAnErrorAtOnce) {
  const auto service = RemoteMeasuringService::Open(fleet_.Client("alice"), {.key = "nowhere"});
  EXPECT_TRUE(absl::IsNotFound(service.status())) << service.status();
}

TEST_F(FleetTest, AClientWaitsForADeviceThatIsPromised) {
  const auto fleet = fleet_.Operator();
  EXPECT_TRUE(absl::IsPermissionDenied(fleet_.Client("alice")->Queue({"desk"}).status()));
  ASSERT_TRUE(fleet->Queue({"desk"}).ok());
  Bench bench(0);
  std::unique_ptr<AgentOfTest> agent;
  std::thread brings([&] {
    while (fleet->Queue({"desk"})->empty()) std::this_thread::yield();
    agent = fleet_.Agent(bench.Answer());
  });
  const auto service = Service("alice");
  brings.join();
  EXPECT_EQ(service->device().fingerprint, "board");
  ExpectAllOk(*service->Submit(Items(*service, 3)), 3);
}

TEST_F(FleetTest, AnAgentThatHasNoWorkForTooLongEnds) {
  Bench bench(0);
  const auto agent = fleet_.Agent(bench.Answer(), /*server=*/"", /*idle_seconds=*/0.2);
  EXPECT_TRUE(agent->AwaitEnd().ok());
  fleet_.AwaitDevices(0);
}

TEST_F(FleetTest, ARevokedAgentIsOut) {
  Bench bench(0);
  const auto agent = fleet_.Agent(bench.Answer());
  fleet_.AwaitDevices(1);
  const std::string device = fleet_.Operator()->Devices("desk")->front().id();
  ASSERT_TRUE(fleet_.Operator()->Revoke(device.substr(0, device.find('/')), "stolen").ok());
  EXPECT_TRUE(absl::IsPermissionDenied(agent->AwaitEnd()));
}

TEST_F(FleetTest, ADrainedDeviceIsGivenToNobody) {
  Bench bench(0);
  const auto agent = fleet_.Agent(bench.Answer());
  fleet_.AwaitDevices(1);
  const auto service = Service("alice");
  const auto fleet = fleet_.Operator();
  fleet_proto::DeviceChange change;
  change.set_id(fleet->Devices("desk")->front().id());
  change.set_kind(fleet_proto::DeviceChange::DRAIN);
  change.set_reason("repairs");
  ASSERT_TRUE(fleet->Change(change).ok());
  EXPECT_EQ(fleet->Devices("desk")->front().drained(), "repairs");
  const auto batch = service->Submit(Items(*service, 2));
  EXPECT_FALSE(batch->Next(After(0.2)).has_value());
  change.set_kind(fleet_proto::DeviceChange::RESUME);
  ASSERT_TRUE(fleet->Change(change).ok());
  ExpectAllOk(*batch, 2);
}

}  // namespace
}  // namespace attune
