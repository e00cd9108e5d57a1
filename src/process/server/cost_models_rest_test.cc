// The cost model that jobs share, and whose records it learns from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/await_that.h"
#include "device/codec.h"
#include "process/server/rest_for_test.h"
#include "service/records/cost_model_store.h"
#include "tune/records/records_for_test.h"

namespace attune {
namespace {

using ::testing::ElementsAre;

class CostModelsTest : public RestTest {
 protected:
  void SetUp() override {
    RestTest::SetUp();
    ann_ = Token("ann", AccessRole::kOperator);
    agent_ = fleet_.Agent([](const MeasureItem&) { return MockAnswer(); });
    fleet_.AwaitDevices(1);
    fingerprint_ = DecodeDevice(dispatcher_->Devices("").front().info())->fingerprint;
  }
  void TearDown() override {
    agent_.reset();
    RestTest::TearDown();
  }

  void SetConsent(bool cost_model) {
    const Json consent = {{"answers", false}, {"cost_model", cost_model}};
    EXPECT_EQ(Ask(ann_, "PUT", "/v1/tenants/ann/consent", consent.dump()).status, 200);
  }
  // A tuning job of the tenant is done, with this many measurements on this device.
  void End(const std::string& tenant, const std::string& device, int records) {
    const std::string job = absl::StrCat("job", ++num_jobs_), path = fleet_.folder() / (job + ".db");
    auto database = MustOpen(path);
    for (int i = 0; i < records; ++i) {
      Record record = SampleRecord(job, i);
      record.device = device;
      EXPECT_TRUE(database->Add(record).ok());
    }
    database.reset();
    const std::string content = *ReadFile(path, 1 << 20), digest = Sha256Hex(content);
    EXPECT_TRUE(jobs_->desk().files().Append(job, digest, 0, content).ok());
    EXPECT_TRUE(jobs_->desk().files().Finish(job, digest).ok());
    JobRecord ended;
    ended.spec.id = ended.spec.base = job;
    ended.spec.kind = "tuning";
    ended.spec.settings = Json::object();
    ended.spec.owner = tenant;
    ended.spec.on = "desk";
    ended.state = JobState::kDone;
    ended.files = {{.name = "records.db", .digest = digest, .bytes = std::ssize(content)}};
    jobs_->desk().learning().Offer(ended);
  }
  void AwaitCount(int64_t count) {
    testing::AwaitThat([&] { return shared_->CountRecords()->all == count; });
  }

  const std::unique_ptr<CostModelStore> shared_ =
      *CostModelStore::Open(SqlLocation(fleet_.folder().path() + "/server"));
  std::unique_ptr<AgentOfTest> agent_;
  std::string ann_, fingerprint_;
  int num_jobs_ = 0;
};

TEST_F(CostModelsTest, RecordsAreThoseOfConsentingTenantsOnTrustedDevices) {
  SetConsent(true);
  End("carl", fingerprint_, 3);
  End("ann", "another device", 5);
  End("ann", fingerprint_, 7);
  AwaitCount(7);
  EXPECT_THAT(*shared_->Tenants(), ElementsAre("ann"));
}

TEST_F(CostModelsTest, AConsentThatIsTakenBackTakesTheRecords) {
  SetConsent(true);
  End("ann", fingerprint_, 3);
  AwaitCount(3);
  SetConsent(false);
  EXPECT_EQ(shared_->CountRecords()->all, 0);
  End("ann", fingerprint_, 5);
  // One after the other: what comes later shows that the former is done with.
  ASSERT_TRUE(tenant_store_->Add({.name = "carl", .consent = {.cost_model = true}}).ok());
  End("carl", fingerprint_, 7);
  AwaitCount(7);
}

TEST_F(CostModelsTest, ADeletedTenantTeachesNothing) {
  SetConsent(true);
  End("ann", fingerprint_, 3);
  AwaitCount(3);
  EXPECT_EQ(Ask(Token("server", AccessRole::kAdmin), "DELETE", "/v1/tenants/ann").status, 202);
  AwaitCount(0);
}

TEST_F(CostModelsTest, VersionsAreListed) {
  EXPECT_EQ(Get(ann_, "/v1/cost-models")["cost_models"].size(), 0);
  EXPECT_EQ(Get(ann_, "/v1/cost-models")["learns"], true);
  ASSERT_TRUE(shared_->Add({.records = 1000, .tasks = 3, .held_back = 1, .ranking = 0.5}, "a").ok());
  ASSERT_TRUE(
      shared_
          ->Add(
              {.records = 2000, .ranking = 0.4, .ranking_before = 0.5, .state = CostModelState::kRolledBack},
              "b")
          .ok());
  const Json versions = Get(ann_, "/v1/cost-models")["cost_models"];
  ASSERT_EQ(versions.size(), 2);
  EXPECT_EQ(versions[0]["state"], "rolled_back");
  EXPECT_EQ(versions[0]["ranking_before"], 0.5);
  EXPECT_EQ(versions[1]["state"], "current");
  EXPECT_EQ(versions[1]["ranking_before"], nullptr);
  EXPECT_EQ(Get(ann_, "/v1/cost-models?most=1")["cost_models"].size(), 1);
}

}  // namespace
}  // namespace attune
