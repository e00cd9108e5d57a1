#include "fleet/server/calibrator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "base/testing/manual_clock.h"
#include "base/testing/temporary_folder.h"
#include "fleet/server/made_up_agent_for_test.h"
#include "fleet/server/made_up_client_for_test.h"
#include "fleet/store/fleet_store.h"

namespace attune {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kLeaseSeconds = 15, kStepSeconds = 0.5;
constexpr CalibratorOptions kOptions = {.interval_seconds = 600, .retry_seconds = 60, .most_seconds = 100};
constexpr char kDevice[] = "desk/cpu";

class CalibratorTest : public ::testing::Test {
 protected:
  CalibratorTest() {
    clock_.Advance(kLeaseSeconds);  // nothing is granted before
  }

  // Lets time pass; the agent and the server do their work.
  void Pass(double seconds) {
    for (double passed = 0; passed < seconds; passed += kStepSeconds) {
      clock_.Advance(kStepSeconds);
      agent_->Tick();
      dispatcher_->Tick();
      calibrator_->Tick();
    }
  }
  // A calibration that the device answers with this rate.
  void CalibrateAt(double gflops) {
    gflops_ = gflops;
    EXPECT_TRUE(calibrator_->Begin(kDevice).ok());
    Pass(2);
  }
  Measurement Answer(const MeasureItem& item) {
    EXPECT_EQ(item.kind, MeasureItem::Kind::kMeasurePeaks);
    EXPECT_EQ(item.options.threads, 1);  // the usable processors
    if (is_broken_) return FailedMeasurement(TrialOutcome::kRetry, "it is broken");
    Measurement measurement;
    measurement.outcome = TrialOutcome::kOk;
    measurement.peaks.gflops_per_core = gflops_;
    return measurement;
  }
  std::unique_ptr<MadeUpAgent> Agent(MadeUpAgentOptions options = {}) {
    return std::make_unique<MadeUpAgent>(
        *dispatcher_, [this](const MeasureItem& item) { return Answer(item); }, std::move(options));
  }
  fleet_proto::Device Device() const { return dispatcher_->Devices(kDevice).at(0); }
  fleet_proto::CalibrationState State() const { return *calibrator_->StateOf(kDevice); }

  const testing::TemporaryFolder folder_;
  ManualClock clock_;
  double gflops_ = 100;
  bool is_broken_ = false;
  const std::unique_ptr<FleetStore> store_ = *FleetStore::Open(folder_ / "fleet.db");
  std::unique_ptr<Dispatcher> dispatcher_ =
      *Dispatcher::Create(*store_, {.lease_seconds = kLeaseSeconds}, clock_);
  std::unique_ptr<MadeUpAgent> agent_ = Agent();
  std::unique_ptr<Calibrator> calibrator_ =
      std::make_unique<Calibrator>(*dispatcher_, *store_, kOptions, clock_);
};

TEST_F(CalibratorTest, EachIntervalADeviceIsCalibratedAndGivenBack) {
  Pass(5);
  ASSERT_THAT(State().calibrations(), SizeIs(1));
  EXPECT_EQ(Device().held_by(), "");
  EXPECT_FALSE(State().is_going_on());
  const auto measurement = DecodeMeasurement(State().calibrations(0).measurement());
  EXPECT_EQ(measurement->peaks.gflops_per_core, 100);
  Pass(kOptions.interval_seconds - 10);
  EXPECT_THAT(State().calibrations(), SizeIs(1));
  Pass(20);
  EXPECT_THAT(State().calibrations(), SizeIs(2));
  // A server that starts again knows when it was.
  calibrator_ = std::make_unique<Calibrator>(*dispatcher_, *store_, kOptions, clock_);
  Pass(kOptions.interval_seconds - 20);  // since the latest one
  EXPECT_THAT(State().calibrations(), SizeIs(2));
}

// It cannot tell how old the latest one is, and calibrates once more rather than not for hours.
TEST_F(CalibratorTest, AWallClockThatJumpsCostsOneCalibration) {
  Pass(5);
  ASSERT_THAT(State().calibrations(), SizeIs(1));
  int count = 1;
  for (const double jump : {-5 * 3600.0, 9 * 3600.0, -4 * 3600.0}) {
    clock_.JumpWall(jump);
    ++count;
    Pass(5);
    EXPECT_THAT(State().calibrations(), SizeIs(count)) << jump;
    Pass(kOptions.interval_seconds / 2);
    EXPECT_THAT(State().calibrations(), SizeIs(count)) << jump;
  }
  EXPECT_EQ(Device().drained(), "");
}

TEST_F(CalibratorTest, WithoutAnIntervalOnlyRequestsCount) {
  calibrator_ = std::make_unique<Calibrator>(*dispatcher_, *store_, CalibratorOptions(), clock_);
  Pass(100);
  EXPECT_THAT(State().calibrations(), IsEmpty());
  CalibrateAt(100);
  EXPECT_THAT(State().calibrations(), SizeIs(1));
}

TEST_F(CalibratorTest, ADeviceThatTrustsSomeOwnersOnlyIsCalibratedToo) {
  agent_ = Agent({.trusted_owners = {"ann"}});
  Pass(5);
  EXPECT_THAT(State().calibrations(), SizeIs(1));
}

TEST_F(CalibratorTest, OthersGoFirstUnlessAnOperatorAsks) {
  MadeUpClient holder(*dispatcher_, kDevice), second(*dispatcher_, kDevice);
  Pass(2);
  EXPECT_TRUE(State().is_going_on());  // it waits
  MadeUpClient third(*dispatcher_, kDevice, "bob", -100);
  holder.Release();
  EXPECT_TRUE(second.WasGranted());
  EXPECT_TRUE(calibrator_->Begin(kDevice).ok());
  second.Release();
  EXPECT_FALSE(third.WasGranted());
  EXPECT_EQ(Device().held_by(), kFleetItself);
  Pass(2);
  EXPECT_THAT(State().calibrations(), SizeIs(1));
  EXPECT_TRUE(third.WasGranted());
}

TEST_F(CalibratorTest, ADeviceThatDriftsIsQuarantinedUntilItIsResumed) {
  Pass(5);
  for (int i = 0; i < 4; ++i) CalibrateAt(100);
  CalibrateAt(69);
  EXPECT_EQ(Device().drained(), "");
  CalibrateAt(100);  // once is no drift
  CalibrateAt(69);
  CalibrateAt(69);
  EXPECT_EQ(Device().drained(),
            "quarantined: 31 % slower than usual at f32 (69.0 instead of 100.0 Gop/s per core)");
  const absl::Status refused = calibrator_->Begin(kDevice);
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("resume"));
  Pass(2 * kOptions.interval_seconds);
  EXPECT_THAT(State().calibrations(), SizeIs(9));

  EXPECT_TRUE(calibrator_->OnResume(kDevice).ok());
  EXPECT_TRUE(dispatcher_->Resume(kDevice).ok());
  EXPECT_THAT(State().calibrations(), IsEmpty());
  for (int i = 0; i < 10; ++i) CalibrateAt(69);
  EXPECT_EQ(Device().drained(), "");  // that is usual now
}

TEST_F(CalibratorTest, ResumingASoundDeviceKeepsItsBaseline) {
  Pass(5);
  CalibrateAt(100);
  EXPECT_TRUE(calibrator_->OnResume(kDevice).ok());
  EXPECT_THAT(State().calibrations(), SizeIs(2));
}

TEST_F(CalibratorTest, AFailureIsToldAndTriedAgainLater) {
  is_broken_ = true;
  Pass(5);
  EXPECT_EQ(State().failure(), "it is broken");
  EXPECT_EQ(Device().held_by(), "");
  is_broken_ = false;
  Pass(kOptions.retry_seconds);
  EXPECT_EQ(State().failure(), "");
  EXPECT_THAT(State().calibrations(), SizeIs(1));
}

TEST_F(CalibratorTest, ADeviceThatNeverAnswersIsGivenBack) {
  agent_ = std::make_unique<MadeUpAgent>(*dispatcher_);
  Pass(5);
  EXPECT_EQ(Device().held_by(), kFleetItself);
  Pass(kOptions.most_seconds);
  EXPECT_EQ(Device().held_by(), "");
  EXPECT_EQ(State().failure(), "no result in 100 s");
}

TEST_F(CalibratorTest, DevicesThatAreUnknownOrAwayAreRefused) {
  EXPECT_EQ(calibrator_->Begin("nobody").code(), absl::StatusCode::kNotFound);
  agent_.reset();
  EXPECT_EQ(calibrator_->Begin(kDevice).code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(CalibratorTest, ACalibratorThatEndsGivesDevicesBack) {
  agent_ = std::make_unique<MadeUpAgent>(*dispatcher_);
  Pass(5);
  EXPECT_EQ(Device().held_by(), kFleetItself);
  calibrator_.reset();
  EXPECT_EQ(Device().held_by(), "");
}

}  // namespace
}  // namespace attune
