#include "service/queue/device_quotas.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/log.h"
#include "base/testing/manual_clock.h"
#include "work/driver/schedule_driver_for_test.h"

namespace attune {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

class DeviceQuotasTest : public EndlessScheduleTest {
 protected:
  void SetUp() override {
    SetLogLevel(LogLevel::kOff);
    LocalHost host = ComputingHost();
    for (const char* owner : {"ann", "bob"}) host.resources.slots[owner] = kAnyAmount;
    driver_->AddHost(host);
    driver_->AddDevice({"desk"});
  }
  void TearDown() override { SetLogLevel(LogLevel::kWarning); }

  void Enforce() {
    look_clock_.Advance(6);
    const absl::Status enforced = quotas_.Enforce(*driver_);
    EXPECT_TRUE(enforced.ok()) << enforced;
  }
  // How many of the owner's jobs are in this state.
  int64_t Count(const std::string& owner, JobState state) {
    return std::ssize(*store_->Jobs(schedule_, {.owner = owner, .state = state}));
  }

  absl::StatusOr<std::optional<std::string>> ann_ = std::optional<std::string>();
  std::set<std::string> asked_;
  std::map<std::string, double> used_;
  ManualClock look_clock_;
  DeviceQuotas quotas_{
      [this](const std::string& owner, double /*running*/) -> absl::StatusOr<std::optional<std::string>> {
        asked_.insert(owner);
        if (owner == "ann") return ann_;
        return std::nullopt;
      },
      [this](const std::string& owner, double seconds) { used_[owner] += seconds; }, look_clock_};
};

TEST_F(DeviceQuotasTest, StagesWithADeviceCount) {
  StageRecord stage;
  stage.start = 10;
  stage.end = 12.5;
  stage.stage.needs = {{.key = kProcessorsKey, .amount = 1}};
  quotas_.Count("ann", stage);
  EXPECT_TRUE(used_.empty());
  stage.stage.needs.push_back({.key = "desk", .exclusive = true});
  quotas_.Count("ann", stage);
  quotas_.Count("ann", stage);
  EXPECT_THAT(used_, ElementsAre(Pair("ann", 5)));
}

TEST_F(DeviceQuotasTest, OwnersWithoutTimeLoseTheJobsThatHaveBegun) {
  Submit("anns", "desk", "ann");
  Submit("bobs", "desk", "bob");
  Step(3);
  Enforce();
  EXPECT_TRUE(asked_.contains("ann"));
  EXPECT_EQ(Count("ann", JobState::kFailed), 0);
  ann_ = std::optional<std::string>("ann has used all device time of this month");
  Enforce();
  Finish();
  const auto failed = *store_->Jobs(schedule_, {.owner = "ann", .state = JobState::kFailed});
  EXPECT_FALSE(failed.empty());
  for (const auto& [number, job] : failed) EXPECT_EQ(job.error, **ann_);
  EXPECT_EQ(Count("bob", JobState::kDone), 3);
}

TEST_F(DeviceQuotasTest, LooksNowAndThen) {
  Submit("anns", "desk", "ann");
  Step(3);
  look_clock_.Advance(4);
  ASSERT_TRUE(quotas_.Enforce(*driver_).ok());
  EXPECT_TRUE(asked_.empty());
  look_clock_.Advance(2);
  ASSERT_TRUE(quotas_.Enforce(*driver_).ok());
  EXPECT_THAT(asked_, ElementsAre("ann"));
  asked_.clear();
  ASSERT_TRUE(quotas_.Enforce(*driver_).ok());
  EXPECT_TRUE(asked_.empty());
}

TEST_F(DeviceQuotasTest, AQuotaThatIsNotKnownEndsNothing) {
  Submit("anns", "desk", "ann");
  Step(3);
  ann_ = absl::UnavailableError("the database is away");
  Enforce();
  Finish();
  EXPECT_EQ(Count("ann", JobState::kDone), 3);
}

TEST_F(DeviceQuotasTest, WithoutQuotasNothingIsAsked) {
  DeviceQuotas none(nullptr, nullptr, look_clock_);
  Submit("anns", "desk", "ann");
  Step(3);
  look_clock_.Advance(6);
  EXPECT_TRUE(none.Enforce(*driver_).ok());
  StageRecord stage;
  stage.stage.needs = {{.key = "desk", .exclusive = true}};
  none.Count("ann", stage);
}

}  // namespace
}  // namespace attune
