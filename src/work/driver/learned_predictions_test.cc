
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/testing/temporary_folder.h"
#include "work/driver/job_predictions.h"
#include "work/store/sql_job_store.h"

namespace attune {
namespace {

constexpr SecondsPrediction kOwn = {.low = 1, .median = 2, .high = 4};

// Stores a job whose stages take three times as long as it predicts.
void StoreSlowStages(SqlJobStore& store) {
  constexpr int kEnough = 20;
  const std::vector<JobSpec> specs = {{.id = "a", .kind = "mock", .settings = nlohmann::json::object()}};
  const auto schedule = store.ResumeOrBegin("key", specs, "host");
  ASSERT_TRUE(schedule.ok()) << schedule.status();
  for (int i = 0; i < kEnough; ++i) {
    StageRecord stage;
    stage.stage.name = "build";
    stage.own = kOwn;
    stage.start = 10 * i;
    stage.end = stage.start + 3 * kOwn.median;
    ASSERT_TRUE(store.EndStage(schedule->id, 0, schedule->jobs[0], stage).ok());
  }
}

TEST(LearnedPredictions, LearnFromTheStoreOnce) {
  const testing::TemporaryFolder folder;
  const auto store = SqlJobStore::Open(folder / "jobs.db", JobKinds({}));
  ASSERT_TRUE(store.ok()) << store.status();
  StoreSlowStages(**store);
  LearnedPredictions predictions(**store);
  JobPredictions job("mock", "");
  job.SetHost("host");
  EXPECT_EQ(job.Predict(predictions.all(), "build", kOwn).median, kOwn.median);
  ASSERT_TRUE(predictions.LearnOnce().ok());
  EXPECT_NEAR(job.Predict(predictions.all(), "build", kOwn).median, 3 * kOwn.median, 0.1);
  const int64_t learned = predictions.all().num_predicted();
  EXPECT_GT(learned, 0);
  ASSERT_TRUE(predictions.LearnOnce().ok());
  EXPECT_EQ(predictions.all().num_predicted(), learned);
}

}  // namespace
}  // namespace attune
