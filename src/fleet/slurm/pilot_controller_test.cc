#include "fleet/slurm/pilot_controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"
#include "base/testing/manual_clock.h"
#include "base/testing/temporary_folder.h"
#include "fleet/slurm/pilot_planner.h"

namespace attune {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class FakeFleet final : public PilotFleet {
 public:
  absl::StatusOr<int> Waiting() override { return waiting; }
  absl::StatusOr<std::vector<PilotDevice>> Devices() override { return devices; }
  absl::StatusOr<std::string> Invite() override { return absl::StrCat("secret", ++num_invited); }
  absl::Status Remove(const std::string& device) override {
    std::erase_if(devices, [&](const PilotDevice& known) { return known.id == device; });
    return absl::OkStatus();
  }

  absl::StatusOr<int> waiting = 0;
  std::vector<PilotDevice> devices;
  int num_invited = 0;
};

class FakeSlurm final : public SlurmCommands {
 public:
  absl::Status Submit(const SlurmJob& job) override {
    RETURN_IF_ERROR(outage);
    submitted.push_back(job);
    jobs[job.name] = PilotJobState::kPending;
    return absl::OkStatus();
  }
  absl::StatusOr<std::map<std::string, PilotJobState>> Jobs(std::string_view /*prefix*/) override {
    RETURN_IF_ERROR(outage);
    return jobs;
  }
  absl::Status Cancel(const std::string& name) override {
    jobs.erase(name);
    return outage;
  }

  absl::Status outage;
  std::map<std::string, PilotJobState> jobs;
  std::vector<SlurmJob> submitted;
};

class PilotControllerTest : public ::testing::Test {
 protected:
  void SetUp() override { SetLogLevel(LogLevel::kError); }  // outages are logged as warnings
  void TearDown() override { SetLogLevel(LogLevel::kWarning); }

  void Start() {
    controller_.emplace(PilotControllerOptions{.limits = {.max = 2, .idle_seconds = 60, .absent_seconds = 10},
                                               .program = "/opt/attune",
                                               .keys = {"cpu"},
                                               .trusted = {"ann"}},
                        fleet_, slurm_, *spool_, clock_);
    EXPECT_TRUE(controller_->Start().ok());
  }
  void Steps(int count) {
    for (int i = 0; i < count; ++i, clock_.Advance(1)) controller_->Step();
  }

  const testing::TemporaryFolder folder_;
  ManualClock clock_;
  FakeFleet fleet_;
  FakeSlurm slurm_;
  std::unique_ptr<PilotSpool> spool_ = *PilotSpool::Open(folder_ / "spool");
  std::optional<PilotController> controller_;
};

TEST_F(PilotControllerTest, APilotLivesInItsFolderUntilItIsForgotten) {
  Start();
  fleet_.waiting = 1;
  Steps(3);
  ASSERT_THAT(slurm_.submitted, SizeIs(1));
  const SlurmJob job = slurm_.submitted[0];
  EXPECT_THAT(*spool_->Pilots(), ElementsAre(job.name));
  EXPECT_THAT(job.arguments,
              ElementsAre("/opt/attune", "agent", "--invitation-file=" + spool_->InvitationFile(job.name),
                          "--state=" + spool_->StateFolder(job.name), "--key=" + job.name, "--key=cpu",
                          "--trust=ann", "--idle-seconds=60"));
  EXPECT_THAT(job.arguments, Each(Not(HasSubstr("secret"))));
  fleet_.devices = {{.id = "a/cpu", .pilot = job.name, .is_there = true, .is_held = true}};
  fleet_.waiting = 0;
  Steps(3);
  fleet_.devices[0].is_there = false;
  slurm_.jobs.clear();
  Steps(12);
  EXPECT_THAT(fleet_.devices, IsEmpty());
  EXPECT_THAT(*spool_->Pilots(), IsEmpty());
  EXPECT_THAT(slurm_.submitted, SizeIs(1));
}

TEST_F(PilotControllerTest, AnotherControllerGoesOn) {
  Start();
  fleet_.waiting = 2;
  Steps(1);
  Start();
  Steps(100);
  EXPECT_THAT(slurm_.submitted, SizeIs(2));
}

TEST_F(PilotControllerTest, WaitsForSlurmAndForTheServer) {
  Start();
  fleet_.waiting = 1;
  slurm_.outage = absl::UnavailableError("slurmctld is away");
  Steps(50);
  EXPECT_EQ(fleet_.num_invited, 0);
  slurm_.outage = absl::OkStatus();
  fleet_.waiting = absl::UnavailableError("the server is away");
  Steps(50);
  EXPECT_THAT(slurm_.submitted, IsEmpty());
  fleet_.waiting = 1;
  Steps(1);
  EXPECT_THAT(slurm_.submitted, SizeIs(1));
}

TEST_F(PilotControllerTest, WithoutAnInvitationNothingIsSubmitted) {
  Start();
  fleet_.waiting = 2;
  std::filesystem::remove_all(spool_->path());
  std::ofstream(spool_->path()) << "no folder";
  Steps(5);
  EXPECT_THAT(slurm_.submitted, IsEmpty());
  std::filesystem::remove(spool_->path());
  Steps(10);
  EXPECT_THAT(slurm_.submitted, SizeIs(2));
}

TEST(PilotFleetTest, OnlyTheOwnersDevicesArePilots) {
  const auto device = [](const char* owner, const std::string& key) {
    fleet_proto::Device made;
    made.set_id(absl::StrCat(owner, "/cpu"));
    made.set_owner(owner);
    made.add_keys("cpu");
    made.add_keys(key);
    made.set_is_there(true);
    made.set_held_by("somebody");
    return made;
  };
  const auto found =
      PilotDevices({device("ann", "attune-t-1"), device("bob", "attune-t-2"), device("ann", "attune-u-3")},
                   {.owner = "ann", .prefix = PilotPrefix("t")});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].pilot, "attune-t-1");
  EXPECT_TRUE(found[0].is_there && found[0].is_held);
}

}  // namespace
}  // namespace attune
