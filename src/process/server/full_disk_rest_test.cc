// A server whose disk is full: it answers reads, and refuses changes with the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/testing/await_that.h"
#include "base/testing/small_disk.h"
#include "process/server/rest_for_test.h"

namespace attune {
namespace {

class FullDiskRestTest : public RestTest {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_SMALL_DISK();
    SetLogLevel(LogLevel::kOff);
  }

  const testing::SmallDisk disk_{fleet_.folder().path()};
};

TEST_F(FullDiskRestTest, ReadingGoesOn) {
  const std::string token = Token("ann", AccessRole::kOperator), digest = Upload(token, "model");
  std::vector<std::string> ids;
  for (int i = 0; i < 100; ++i) ids.push_back(Submit(token, MockJob()));
  const Json before = Get(token, "/v1/jobs/" + ids.back());
  // Jobs that measure have tokens; a test that starts again with the jobs revokes them first.
  for (int i = 0; i < 300; ++i)
    ASSERT_TRUE(fleet_store_
                    ->AddCertificate(
                        {.who = {.role = FleetRole::kClient, .owner = "ann", .id = absl::StrCat("job", i)},
                         .serial = absl::StrCat("a", i),
                         .end_ms = INT64_MAX})
                    .ok());
  disk_.Fill();
  // The first changes may find room in what the database has got already.
  absl::Status cancelled;
  for (size_t i = 0; i < ids.size() - 1 && cancelled.ok(); ++i)
    cancelled = jobs_->desk().Cancel({.id = ids[i], .owner = "ann"}, "test").status();
  EXPECT_TRUE(absl::IsResourceExhausted(cancelled)) << cancelled;
  testing::AwaitThat([&] { return !jobs_->desk().AreKept(); });

  EXPECT_EQ(Get(token, "/v1/jobs?most=500")["jobs"].size(), ids.size());
  EXPECT_EQ(Get(token, "/v1/jobs/" + ids.back())["state"], "waiting");
  EXPECT_EQ(Get(token, "/v1/jobs/" + ids.back())["submitted"], before["submitted"]);
  EXPECT_EQ(Get(token, "/v1/uploads/" + digest)["is_complete"], true);
  EXPECT_EQ(Get(token, "/v1/tenants/ann")["used"]["jobs"].get<int64_t>() > 0, true);
  EXPECT_EQ(Ask(token, "GET", "/v1/jobs/" + ids.back() + "/trace").status, 200);
  EXPECT_NE(Ask(token, "GET", "/v1/jobs/" + ids.back() + "/events").events, nullptr);
  EXPECT_EQ(Post(token, "/v1/jobs", MockJob()).status, 503);
  EXPECT_EQ(Ask(token, "POST", "/v1/jobs/" + ids.back() + "/cancel").status, 503);

  disk_.Free();
  testing::AwaitThat([&] { return jobs_->desk().AreKept(); });
  EXPECT_EQ(Ask(token, "POST", "/v1/jobs/" + ids.back() + "/cancel").status, 200);
  EXPECT_EQ(Get(token, "/v1/jobs?most=500")["jobs"].size(), ids.size());
}

}  // namespace
}  // namespace attune
