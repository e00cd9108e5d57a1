#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <ranges>
#include <set>

#include "base/random.h"
#include "tune/job/part_plan.h"
#include "tune/job/tuning_job_for_test.h"
#include "tune/records/exchange.h"

namespace attune {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

TEST(PartPlan, GivesEachTaskOrEachSliceOnce) {
  constexpr int kPlans = 500;
  Random random(1);
  for (int n = 0; n < kPlans; ++n) {
    std::vector<double> weights(static_cast<size_t>(random.Integer(1, 40)));
    for (double& weight : weights) weight = random.Uniform() * random.Uniform() * random.Uniform();
    const int parts = static_cast<int>(random.Integer(1, 16));
    const std::vector<PartShare> shares = PlanParts(weights, parts);
    ASSERT_EQ(std::ssize(shares), parts);
    std::vector<double> loads(shares.size());
    for (size_t task = 0; task < weights.size(); ++task) {
      std::set<int> slices;
      int count = 0;
      for (size_t part = 0; part < shares.size(); ++part) {
        if (!shares[part][task]) continue;
        EXPECT_TRUE(slices.insert(shares[part][task]->index).second);
        EXPECT_TRUE(count == 0 || count == shares[part][task]->count);
        count = shares[part][task]->count;
        loads[part] += weights[task] / count;
      }
      EXPECT_EQ(std::ssize(slices), count);
      EXPECT_EQ(*slices.begin(), 0);
      EXPECT_EQ(*slices.rbegin(), count - 1);
    }
    const double sum = std::reduce(weights.begin(), weights.end());
    // Graham's bound for pieces of at most a share.
    EXPECT_LT(std::ranges::max(loads), 2.1 * sum / parts);
    int64_t trials = 0;
    for (int part = 0; part < parts; ++part) trials += TrialsOfPart(1000, weights, shares, part);
    EXPECT_NEAR(static_cast<double>(trials), 1000, parts);
  }
}

TEST(PartPlan, CutsTheOnlyTask) {
  const std::vector<double> weights = {1};
  const std::vector<PartShare> shares = PlanParts(weights, 3);
  for (int part = 0; part < 3; ++part) EXPECT_EQ(shares[static_cast<size_t>(part)].front(), (Slice{part, 3}));
}

class PartsTest : public TuningJobTest {
 protected:
  // Runs this part in a database of its own, as a runner does, and returns what it measured.
  std::vector<FakeMachine::Asked> RunPart(TuningOptions options, int index, int count) {
    machine_.measured.clear();
    options.part = {.count = count, .index = index};
    const std::string path = folder_ / absl::StrCat("part", index, ".db");
    std::swap(part_records_, records_);
    records_ = MustOpen(path);
    {
      const auto job = Make(options, absl::StrCat("part", index));
      EXPECT_THAT(Finish(*job), ::testing::Not(HasSubstr("N")));  // the network is not measured
    }
    std::swap(part_records_, records_);
    EXPECT_TRUE(MergeRecords(*records_, *part_records_).ok());
    part_records_.reset();
    return machine_.measured;
  }

  std::unique_ptr<RecordDatabase> part_records_;
};

TEST_F(PartsTest, MeasureWhatOneJobMeasuresAndTheWholeConfirmsTheBest) {
  TuningOptions options = Options();
  options.trials = 60;
  std::map<std::string, std::set<Candidate>> seen;
  std::map<std::string, double> best;
  for (int part = 1; part <= 2; ++part) {
    for (const FakeMachine::Asked& asked : RunPart(options, part, 2)) {
      const TuningTask& task = *std::ranges::find(tasks_, asked.task, &TuningTask::text);
      const double seconds = FakeMachine::HashedSeconds(task, asked.candidate);
      best[asked.task] = best.contains(asked.task) ? std::min(best[asked.task], seconds) : seconds;
      const bool is_new = seen[asked.task].insert(asked.candidate).second;
      EXPECT_TRUE(is_new || IsDefault(task, asked.candidate)) << "measured twice";
    }
  }
  EXPECT_EQ(seen.size(), tasks_.size());
  machine_.measured.clear();
  options.part = {.count = 2, .index = 0};
  const auto whole = Make(options, "whole");
  EXPECT_THAT(Finish(*whole), HasSubstr("MN"));
  const TuningSummary summary = whole->Summary();
  EXPECT_NEAR(static_cast<double>(summary.trials), 60, 4);
  ASSERT_EQ(summary.tasks.size(), tasks_.size());
  for (size_t i = 0; i < tasks_.size(); ++i)
    EXPECT_NEAR(summary.tasks[i].best_seconds, best[tasks_[i].text], 1e-2 * best[tasks_[i].text]);
  // It proposes nothing of its own.
  for (const FakeMachine::Asked& asked : machine_.measured)
    EXPECT_TRUE(seen[asked.task].contains(asked.candidate));
}

TEST_F(PartsTest, OfMorePartsThanTasksEachHasASlice) {
  TuningOptions options = Options();
  options.trials = 80;
  std::map<std::string, int> parts;
  for (int part = 1; part <= 5; ++part) {
    std::set<std::string> tasks;
    for (const FakeMachine::Asked& asked : RunPart(options, part, 5)) tasks.insert(asked.task);
    EXPECT_FALSE(tasks.empty());
    for (const std::string& task : tasks) ++parts[task];
  }
  EXPECT_GT(std::ranges::max(parts | std::views::values), 1);
}

}  // namespace
}  // namespace attune
