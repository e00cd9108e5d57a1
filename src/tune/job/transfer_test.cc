#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "tune/job/tuning_job_for_test.h"
#include "tune/task/tasks_for_test.h"

namespace attune {
namespace {

using enum StageKind;
using ::testing::ElementsAre;
using ::testing::SizeIs;

// A model that scores each candidate higher than the one before it.
class LikesTheLast final : public CostModel {
 public:
  absl::Status Update(std::span<const TaskSamples> /*tasks*/) override { return absl::OkStatus(); }
  bool is_trained() const override { return true; }
  absl::StatusOr<std::vector<float>> Predict(std::span<const FeatureVector> candidates) const override {
    std::vector<float> scores(candidates.size());
    std::iota(scores.begin(), scores.end(), 0.0F);
    return scores;
  }
  absl::StatusOr<std::string> Serialize() const override { return ""; }
};

class TuningJobTransferTest : public TuningJobTest {
 protected:
  static TuningTask MakeUsed(const std::string& text, const std::set<int>& constant_inputs) {
    TuningTask task = MakeTask(text, constant_inputs);
    task.uses = 1;
    return task;
  }

  // Tunes the wider convolution and returns its best candidate. Afterwards, tasks_ is the narrower one.
  Candidate TuneTheWider(const TuningOptions& options, const std::string& text = kWideConvTask,
                         const std::string& run = "earlier") {
    tasks_ = {MakeUsed(text, {1, 2})};
    const auto job = Make(options, run);
    RunUntilFinal(*job);
    EXPECT_EQ(job->Best().size(), 1);
    machine_.measured.clear();
    tasks_ = {MakeUsed(kConvTask, {1, 2})};
    return job->Best().begin()->second;
  }

  // The candidates that the first round of a new job measures.
  std::vector<Candidate> FirstRound(const TuningOptions& options) {
    const auto job = Make(options);
    RunUntil(*job, kLearn);
    return Of(tasks_[0], machine_.measured);
  }
};

TEST_F(TuningJobTransferTest, WhatWasFastForASimilarTaskIsMeasuredWithTheDefault) {
  const Candidate best = TuneTheWider(Options());
  auto space = ConfigSpace::Create(tasks_[0], target_);
  ASSERT_TRUE(space.ok()) << space.status();
  const std::optional<Candidate> moved = space->Nearest(best);
  ASSERT_TRUE(moved.has_value()) << "the seed finds nothing that fits both";
  EXPECT_THAT(FirstRound(Options()), ElementsAre(DefaultOf(tasks_[0]), *moved));
}

TEST_F(TuningJobTransferTest, OfWhatWasFastForSimilarTasksTheModelChooses) {
  TuningOptions options = Options();
  options.seed = 2;
  const std::string wider_still = absl::StrReplaceAll(kWideConvTask, {{"28,28", "28,56"}});
  const Candidate farther = TuneTheWider(options, wider_still, "earliest");
  const Candidate nearer = TuneTheWider(Options());
  auto space = ConfigSpace::Create(tasks_[0], target_);
  ASSERT_TRUE(space.ok()) << space.status();
  ASSERT_NE(space->Nearest(farther), space->Nearest(nearer)) << "the seeds find the same for both";
  model_ = std::make_unique<LikesTheLast>();
  EXPECT_THAT(FirstRound(Options()), ElementsAre(DefaultOf(tasks_[0]), *space->Nearest(farther)));
}

TEST_F(TuningJobTransferTest, NothingIsTakenFromOtherTasksIfItIsToldSo) {
  TuneTheWider(Options());
  TuningOptions options = Options();
  options.transfer_from_tasks = false;
  EXPECT_THAT(FirstRound(options), ElementsAre(DefaultOf(tasks_[0])));
}

TEST_F(TuningJobTransferTest, AGuessIsNoReasonForMoreTrials) {
  TuneTheWider(Options());
  for (int64_t TuningOptions::* limit : {&TuningOptions::trials, &TuningOptions::trials_per_task}) {
    TuningOptions options = Options();
    options.*limit = 1;
    machine_.measured.clear();
    EXPECT_THAT(FirstRound(options), SizeIs(1));
  }
}

TEST_F(TuningJobTransferTest, ASearchWithoutDefaultsKnowsTheNetworksTimeAfterOneRound) {
  TuningOptions options = Options();
  options.use_defaults = false;
  const auto job = Make(options);
  RunUntil(*job, kLearn);
  EXPECT_THAT(job->Summary().curve, SizeIs(1));
  for (const TuningTask& task : tasks_) EXPECT_THAT(Of(task, machine_.measured), SizeIs(2));
}

TEST_F(TuningJobTransferTest, WhereDefaultsDoNotCountTheyAreNoTrials) {
  TuningOptions options = Options();
  options.use_defaults = false;
  const auto job = Make(options);
  RunUntilFinal(*job);
  EXPECT_EQ(job->Summary().trials, options.trials);
  EXPECT_THAT(Records(), SizeIs(options.trials));
  EXPECT_THAT(machine_.measured, SizeIs(options.trials + tasks_.size()));
}

TEST_F(TuningJobTransferTest, WhereThereIsNoChoiceTheDefaultCounts) {
  TuningOptions options = Options();
  options.use_defaults = false;
  tasks_ = {MakeUsed(kReluTask, {})};
  const auto job = Make(options);
  RunUntilFinal(*job);
  EXPECT_THAT(Of(tasks_[0], machine_.measured), ElementsAre(DefaultOf(tasks_[0])));
  EXPECT_THAT(job->Summary().curve, SizeIs(1));
  EXPECT_EQ(job->Summary().trials, 0);
  EXPECT_THAT(Records(), SizeIs(0));
}

// A baseline that the search proposes by itself is recorded.
TEST_F(TuningJobTransferTest, ADefaultThatASearchHasFoundIsKnownToTheNext) {
  machine_.seconds = [&](const TuningTask& task, const Candidate& candidate, int /*nth*/) {
    return IsDefault(task, candidate) ? 1e-3 : 2e-3;
  };
  TuningOptions options = Options();
  options.use_defaults = false;
  options.trials = 0;
  options.patience = 0;
  tasks_ = {MakeUsed(kMatMulTask, {1})};
  const auto earlier = Make(options, "earlier");
  RunUntilFinal(*earlier);
  ASSERT_EQ(earlier->Summary().tasks[0].best_seconds, 1e-3);
  machine_.measured.clear();
  EXPECT_THAT(FirstRound(options), ElementsAre(DefaultOf(tasks_[0]), DefaultOf(tasks_[0])));
}

}  // namespace
}  // namespace attune
