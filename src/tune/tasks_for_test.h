// Tasks for tests, made from the text of a group.
#ifndef ATTUNE_TUNE_TASKS_FOR_TEST_H_
#define ATTUNE_TUNE_TASKS_FOR_TEST_H_

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "graph/text.h"
#include "plan/kernel_cache.h"
#include "tune/record.h"
#include "tune/task.h"

namespace attune {

inline TuningTask TaskOf(const std::string& group, std::set<int> constant_inputs) {
  auto region = ParseGraph(group);
  EXPECT_TRUE(region.ok()) << region.status();
  TuningTask task;
  task.text = TaskText(**region, constant_inputs);
  task.digest = TaskDigest(task.text);
  task.region = *std::move(region);
  task.constant_inputs = std::move(constant_inputs);
  task.uses = 1;
  return task;
}

// A 3×3 convolution with ReLU in blocks of `block` channels, its weights and bias constant.
inline TuningTask ConvTask(int block = 16) {
  const std::string layout = "{c1/" + std::to_string(block) + "}";
  return TaskOf("graph @g(%x: f32[1,32,28,28]" + layout + R"(, %w: f32[64,32,3,3], %b: f32[64]) {
    %y = conv(%x, %w, %b) {pads = [1, 1, 1, 1]} : f32[1,64,28,28])" +
                    layout + R"(
    %z = relu(%y) : f32[1,64,28,28])" +
                    layout + R"(
    return "": %z
  })",
                {1, 2});
}

}  // namespace attune

#endif  // ATTUNE_TUNE_TASKS_FOR_TEST_H_
