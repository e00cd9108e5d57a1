#include "fleet/host/mock_device_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fleet/host/host_events_for_test.h"

namespace attune {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// Answers with the seconds that are declared as the item's baseline's.
MockAnswer DeclaredAnswer(const MeasureItem& item) {
  MockAnswer answer = {.seconds = item.baseline_seconds};
  answer.measurement.outcome = TrialOutcome::kOk;
  answer.measurement.timing.seconds = item.baseline_seconds;
  return answer;
}

std::unique_ptr<MockDeviceHost> MustStart(EventLogOfTest& log) {
  DeviceInfo device;
  device.fingerprint = "board";
  auto host = MockDeviceHost::Start(device, DeclaredAnswer, log.Collect());
  EXPECT_TRUE(host.ok()) << host.status();
  return *std::move(host);
}

TEST(MockDeviceHost, AnswersAsDeclaredInOrder) {
  EventLogOfTest log;
  const auto host = MustStart(log);
  EXPECT_EQ(host->device().fingerprint, "board");
  EXPECT_THAT(host->lacks(), IsEmpty());
  host->Run({.number = 1, .items = {{3, {.baseline_seconds = 0.002}}, {4, {.baseline_seconds = 0.001}}}});
  host->Run({.number = 2, .items = {{0, {.baseline_seconds = 0.003}}}});
  log.AwaitResults(2);
  std::vector<double> seconds;
  for (const HostResult& result : log.All<HostResult>()) {
    EXPECT_EQ(result.measurement.outcome, TrialOutcome::kOk);
    seconds.push_back(result.measurement.timing.seconds);
  }
  EXPECT_EQ(seconds, (std::vector<double>{0.002, 0.001, 0.003}));
  EXPECT_THAT(log.AwaitResults(1), SizeIs(2));
}

TEST(MockDeviceHost, CancelsWhatWouldTakeForever) {
  EventLogOfTest log;
  const auto host = MustStart(log);
  const HostItem endless = {.index = 0, .item = {.baseline_seconds = 1e9}};
  host->Run({.number = 1, .items = {endless}});
  host->Run({.number = 2, .items = {endless}});
  log.Await<HostAlive>(1);
  host->Cancel(2);
  host->Cancel(1);
  for (const int64_t batch : {1, 2}) {
    const auto results = log.AwaitResults(batch);
    ASSERT_THAT(results, SizeIs(1));
    EXPECT_EQ(results.at(0).measurement.outcome, TrialOutcome::kRetry);
    EXPECT_EQ(results.at(0).measurement.reason, "cancelled");
  }
}

TEST(MockDeviceHost, EndsInTheMiddleOfAnItem) {
  EventLogOfTest log;
  auto host = MustStart(log);
  host->Run({.number = 1, .items = {{0, {.baseline_seconds = 1e9}}}});
  host.reset();
  EXPECT_THAT(log.All<HostLost>(), IsEmpty());
}

}  // namespace
}  // namespace attune
