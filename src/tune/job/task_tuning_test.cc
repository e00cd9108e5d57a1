#include "tune/job/task_tuning.h"

#include <gtest/gtest.h>

#include <string>

#include "tune/task/tasks_for_test.h"

namespace attune {
namespace {

std::string Family(const std::string& task) {
  auto tuning = TaskTuning::Create(MakeTask(task, {1, 2}), *TargetByName("znver4"), {}, 0);
  EXPECT_TRUE(tuning.ok()) << tuning.status();
  return tuning.ok() ? (*tuning)->progress().family : "";
}

// A 1 x 1 convolution with so many channels.
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

}  // namespace
}  // namespace attune
