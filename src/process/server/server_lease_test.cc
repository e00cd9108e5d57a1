#include "process/server/server_lease.h"

#include <gtest/gtest.h>

#include "base/sql/testing/database_for_test.h"
#include "base/testing/await_that.h"
#include "kinds/kinds.h"
#include "work/store/sql_job_store.h"

namespace attune {
namespace {

class ServerLeaseTest : public ::testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT_DATABASE(location_); }

  // A lease that is not lost because the machine is busy.
  std::unique_ptr<ServerLease> Open(const std::string& holder, double seconds = 3600) {
    auto lease = ServerLease::Open(*location_, {.holder = holder, .seconds = seconds, .look_seconds = 0.05});
    EXPECT_TRUE(lease.ok()) << lease.status();
    return *std::move(lease);
  }
  // As another server does that has taken the lease meanwhile.
  void TakeAway() {
    const auto database = *(*location_).Open(ServerLeaseSchema());
    const absl::Status taken = database->Write([](SqlSession& session) {
      return ChangeRows(session, "UPDATE server_leases SET token = token + 1, holder = 'thief'").status();
    });
    EXPECT_TRUE(taken.ok()) << taken;
  }

  const testing::LocationForTest location_{testing::kPostgres};
};

TEST_F(ServerLeaseTest, OneServerHasItUntilItEnds) {
  auto first = Open("first");
  ASSERT_TRUE(first->AwaitHeld());
  const auto second = Open("second");
  first->Announce("here:1");
  testing::AwaitThat([&] { return second->Leader() == "here:1"; });
  first.reset();
  ASSERT_TRUE(second->AwaitHeld());
  EXPECT_EQ(second->Leader(), "");
  second->Wake();
  EXPECT_FALSE(second->AwaitHeld());
}

TEST_F(ServerLeaseTest, AServerThatShowsNoLifeIsReplaced) {
  TakeAway();  // by one that was killed right after
  EXPECT_TRUE(Open("second", /*seconds=*/0.3)->AwaitHeld());
}

TEST_F(ServerLeaseTest, WhoHasLostItCanWriteNothing) {
  const auto lease = Open("first");
  ASSERT_TRUE(lease->AwaitHeld());
  const auto store = *SqlJobStore::Open((*location_).Fenced(lease->Fence()), AllJobKinds());
  const auto schedule = store->ResumeOrBeginEndless("server");
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  JobRecord job;
  job.spec = {.id = "job", .kind = "mock", .settings = nlohmann::json::object()};
  EXPECT_TRUE(store->AddJobs(schedule->id, {{.key = "one", .jobs = {job}}}).ok());
  TakeAway();
  EXPECT_TRUE(absl::IsUnavailable(store->AddJobs(schedule->id, {{.key = "two", .jobs = {job}}}).status()));
  EXPECT_TRUE(absl::IsUnavailable(store->SetJob(schedule->id, 1, job)));
  EXPECT_EQ(store->Jobs(schedule->id, {})->size(), 1);
  lease->AwaitLost();
}

TEST_F(ServerLeaseTest, IsKeptWhilePostgresqlIsStartedAgain) {
  const auto lease = ServerLease::Open(*location_, {.holder = "first", .seconds = 3600});
  ASSERT_TRUE((*lease)->AwaitHeld());
  const SqlFence fence = (*lease)->Fence();
  testing::PostgresForTest::Get()->Kill();
  testing::PostgresForTest::Get()->Start();
  const auto store = *SqlJobStore::Open((*location_).Fenced(fence), AllJobKinds());
  EXPECT_TRUE(store->ResumeOrBeginEndless("server").ok());
}

}  // namespace
}  // namespace attune
