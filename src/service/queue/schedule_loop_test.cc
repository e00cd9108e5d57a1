#include "service/queue/schedule_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/file.h"
#include "base/log.h"
#include "base/testing/await_that.h"
#include "kinds/kinds.h"
#include "service/queue/fleet_parts_for_test.h"
#include "work/sched/strategy.h"

namespace attune {
namespace {

using ::testing::HasSubstr;

// A loop with its surroundings, from one start of a server to its end.
struct LoopOfTest {
  explicit LoopOfTest(FleetPartsOfTest& fleet)
      : hub(*fleet.blobs, [this](const std::string& job) { return loop.Supply(job); }),
        loop(fleet.parts(),
             {.strategy = FindSchedulingStrategy("fair_share"), .kinds = AllJobKinds(), .is_endless = true},
             hub, queue, quotas, counters) {
    EXPECT_TRUE(loop.Start().ok());
  }

  // Adds one job under this key, and returns its id.
  absl::StatusOr<std::string> Submit(const std::string& key) {
    JobRecord job;
    job.spec = {.id = "mock", .kind = "mock", .owner = "ann", .base = key};
    job.spec.settings = {{"stages", {{{"name", "work"}, {"seconds", 1}}}}};
    return queue.Ask([&](LiveSchedule& schedule) -> absl::StatusOr<std::string> {
      const auto added = schedule.AddJobs({{.key = key, .jobs = {job}}});
      if (!added.ok()) return added.status();
      return added->front().begin()->second.spec.id;
    });
  }
  absl::StatusOr<int64_t> Unfinished() {
    return queue.Read([](const KnownJobs& known) { return known.Unfinished("ann"); });
  }

  RunnerHub hub;
  ScheduleQueue queue{[this] { hub.Wake(); }};
  DeviceQuotas quotas{nullptr, nullptr};
  JobCounters counters;
  ScheduleLoop loop;
};

class ScheduleLoopTest : public ::testing::Test {
 protected:
  void SetUp() override { SetLogLevel(LogLevel::kOff); }
  void TearDown() override { SetLogLevel(LogLevel::kWarning); }

  FleetPartsOfTest fleet_;
};

TEST_F(ScheduleLoopTest, JobsOutlastAServer) {
  {
    LoopOfTest first(fleet_);
    const auto id = first.Submit("key");
    ASSERT_TRUE(id.ok()) << id.status();
    EXPECT_EQ(*first.Unfinished(), 1);
  }
  LoopOfTest second(fleet_);
  EXPECT_EQ(*second.Unfinished(), 1);
  EXPECT_EQ(*second.Submit("key"), "mock-1@ann");
  EXPECT_EQ(*second.Unfinished(), 1);
}

TEST_F(ScheduleLoopTest, CountsWhatWaits) {
  LoopOfTest server(fleet_);
  ASSERT_TRUE(server.Submit("key").ok());
  testing::AwaitThat([&] { return server.counters.counts().waiting == 1; });
  EXPECT_EQ(server.counters.counts().running, 0);
}

TEST_F(ScheduleLoopTest, AStoreThatCannotBeOpenedIsTheAnswer) {
  const std::string path = fleet_.folder / "stores/jobs/jobs.db";
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  ASSERT_TRUE(WriteFileAtomically(path, "this is no database, however long one looks at it").ok());
  LoopOfTest server(fleet_);
  const absl::Status refused = server.Submit("key").status();
  EXPECT_TRUE(absl::IsUnavailable(refused)) << refused;
  EXPECT_THAT(refused.message(), HasSubstr("jobs cannot be stored now: "));
  EXPECT_TRUE(absl::IsUnavailable(server.Unfinished().status()));
  EXPECT_FALSE(server.queue.is_open());
}

TEST_F(ScheduleLoopTest, AfterItsEndNothingIsAnswered) {
  LoopOfTest server(fleet_);
  ASSERT_TRUE(server.Submit("key").ok());
  server.loop.Stop();
  EXPECT_EQ(server.Submit("key").status(), absl::UnavailableError("the server is ending"));
  EXPECT_EQ(server.Unfinished().status(), absl::UnavailableError("the server is ending"));
}

}  // namespace
}  // namespace attune
