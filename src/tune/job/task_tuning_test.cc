#include "tune/job/task_tuning.h"

#include <gtest/gtest.h>

#include <string>

#include "tune/records/records_for_test.h"
#include "tune/task/tasks_for_test.h"

namespace attune {
namespace {

std::string Family(const std::string& task) {
  auto tuning = TaskTuning::Create(MakeTask(task, {1, 2}), *TargetByName("znver4"), {}, 0);
  EXPECT_TRUE(tuning.ok()) << tuning.status();
  return tuning.ok() ? (*tuning)->progress().family : "";
}

// A 1 x 1 convolution with this many channels.
std::string Pointwise(int channels) {
  const std::string c = std::to_string(channels);
  return "graph @conv(%x: f32[1," + c + ",14,14]{c1/16}, %w: f32[64," + c +
         ",1,1], %b: f32[64]) {\n"
         "  %y = conv(%x, %w, %b) : f32[1,64,14,14]{c1/16}\n  return \"\": %y\n}";
}

TEST(TaskTuning, AFamilyIsOfTasksWithTheSameAlgorithmsToChooseFrom) {
  EXPECT_EQ(Family(kConvTask), Family(kWideConvTask));
  EXPECT_EQ(Family(Pointwise(32)), Family(Pointwise(64)));
  // Winograd needs fewer operations than the others, and never comes as close to the time of these
  // operations alone.
  EXPECT_NE(Family(kConvTask), Family(Pointwise(32)));
  EXPECT_NE(Family(kConvTask), Family(kMatMulTask));
  EXPECT_EQ(Family(kReluTask), "");
}

// As another process does that has the records of the first one and nothing else, on a clock that is half as
// fast.
TEST(TaskTuning, TheBudgetKnowsWhatAKilledRunHasFound) {
  constexpr int kBatch = 4, kBatches = 3;
  const TuningTask task = MakeTask(kMatMulTask, {1});
  TuningOptions options;
  options.batch = kBatch;
  const auto create = [&] { return *TaskTuning::Create(task, *TargetByName("znver4"), options, 7); };
  const Blob kernel = *Blob::Of("kernel");
  std::vector<Record> records;
  const auto add = [&](TaskTuning& tuning, const Candidate& candidate, double seconds, int64_t trial) {
    Measurement measured;
    measured.outcome = TrialOutcome::kOk;
    measured.timing = {seconds, seconds, seconds, 1};
    tuning.Add(candidate, measured, kernel, "code");
    Record record = SampleRecord("run", trial);
    record.task = task.text;
    record.strategy = candidate.strategy;
    record.strategy_version = FindStrategy(candidate.strategy)->version;
    record.config = candidate.config;
    record.timing = measured.timing;
    records.push_back(record);
  };
  const auto first = create();
  const Candidate baseline = first->First().front();
  add(*first, baseline, 1e-3, 0);
  first->EndBatch();
  int64_t trial = 5;  // others have had some
  for (int batch = 0; batch < kBatches; ++batch) {
    for (const Candidate& candidate : first->Propose(kBatch, nullptr)) {
      add(*first, candidate, 1e-3 - 1e-5 * static_cast<double>(trial % 7), trial);
      ++trial;
    }
    first->EndBatch();
  }
  const std::vector<Record> before = records;
  const auto second = create();
  second->Transfer(before, "run", options);
  add(*second, baseline, 2e-3, trial);
  second->EndBatch();
  ASSERT_EQ(first->progress().best.size(), kBatches + 1);
  ASSERT_EQ(second->progress().best.size(), kBatches + 1);
  for (size_t i = 0; i < first->progress().best.size(); ++i)
    EXPECT_NEAR(second->progress().best[i], 2 * first->progress().best[i], 1e-9);
  for (const int64_t patience : {1, 2, 4, 8, 16})
    EXPECT_EQ(second->is_patient(patience), first->is_patient(patience)) << patience;
  // And it proposes what the first would have proposed.
  EXPECT_EQ(second->Propose(kBatch, nullptr), first->Propose(kBatch, nullptr));
}

}  // namespace
}  // namespace attune
