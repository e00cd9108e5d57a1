#include "work/driver/job_predictions.h"

#include <gtest/gtest.h>

#include "work/job/stage_prior.h"

namespace attune {
namespace {

constexpr SecondsPrediction kOwn = {.low = 1, .median = 2, .high = 4};

// Enough stages that take `ratio` times as long as predicted.
void Learn(StagePredictions& all, const JobPredictions& job, double ratio) {
  constexpr int kEnough = 50;
  for (int i = 0; i < kEnough; ++i) job.Learn(all, "build", kOwn, ratio * kOwn.median);
}

TEST(JobPredictions, AreTheJobsOwnAsLongAsNothingIsLearned) {
  const StagePredictions all;
  const JobPredictions job("mock", "net");
  EXPECT_EQ(job.Predict(all, "build", kOwn).median, kOwn.median);
}

TEST(JobPredictions, JobsLearnFromOthersOfTheirSubject) {
  StagePredictions all;
  const JobPredictions slow("mock", "large"), fast("mock", "small");
  Learn(all, slow, 3);
  Learn(all, fast, 1);
  const JobPredictions another("mock", "large");
  EXPECT_NEAR(another.Predict(all, "build", kOwn).median, 3 * kOwn.median, 0.1);
  EXPECT_NEAR(fast.Predict(all, "build", kOwn).median, kOwn.median, 0.1);
}

TEST(JobPredictions, TellHostsApart) {
  StagePredictions all;
  JobPredictions job("mock", "net");
  job.SetHost("slow");
  Learn(all, job, 3);
  job.SetHost("fast");
  Learn(all, job, 1);
  EXPECT_NEAR(job.Predict(all, "build", kOwn).median, kOwn.median, 0.1);
  job.SetHost("slow");
  EXPECT_NEAR(job.Predict(all, "build", kOwn).median, 3 * kOwn.median, 0.1);
}

TEST(JobPredictions, BeginWithThePriorOfTheKind) {
  const StagePredictions all;
  const JobPredictions job("tuning", "net");
  EXPECT_EQ(job.Predict(all, "open", {}).median, StagePrior("tuning", "open").median);
  EXPECT_EQ(job.RemainingOfAll(), StagePrior("tuning", "").median);
}

}  // namespace
}  // namespace attune
