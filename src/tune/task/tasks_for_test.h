// For tests: tasks, and their baselines and options.
#ifndef ATTUNE_TUNE_TASK_TASKS_FOR_TEST_H_
#define ATTUNE_TUNE_TASK_TASKS_FOR_TEST_H_

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "device/host.h"
#include "graph/text.h"
#include "measure/item.h"
#include "plan/group_kernel.h"
#include "target/target.h"
#include "tune/task/local_builder.h"
#include "tune/task/task.h"
#include "tune/task/task_text.h"

namespace attune {

inline constexpr char kConvTask[] =
    R"(graph @conv(%x: f32[1,32,14,14]{c1/16}, %w: f32[64,32,3,3], %b: f32[64]) {
  %c = conv(%x, %w, %b) {pads = [1, 1, 1, 1]} : f32[1,64,14,14]{c1/16}
  %y = relu(%c) : f32[1,64,14,14]{c1/16}
  return "": %y
})";
// Large enough for tiles of all sizes.
inline constexpr char kWideConvTask[] =
    R"(graph @conv(%x: f32[1,32,28,28]{c1/16}, %w: f32[64,32,3,3], %b: f32[64]) {
  %c = conv(%x, %w, %b) {pads = [1, 1, 1, 1]} : f32[1,64,28,28]{c1/16}
  %y = relu(%c) : f32[1,64,28,28]{c1/16}
  return "": %y
})";
inline constexpr char kMatMulTask[] = R"(graph @gemm(%a: f32[24,64], %b: f32[64,96], %c: f32[96]) {
  %p = matmul(%a, %b) : f32[24,96]
  %y = add(%p, %c) : f32[24,96]
  return "": %y
})";
inline constexpr char kSoftmaxTask[] = R"(graph @softmax(%x: f32[6,1000]) {
  %y = softmax(%x) {axis = 1} : f32[6,1000]
  return "": %y
})";
inline constexpr char kReluTask[] = R"(graph @relu(%x: f32[64,64]) {
  %y = relu(%x) : f32[64,64]
  return "": %y
})";

inline constexpr char kSiluTask[] = R"(graph @silu(%x: f32[64,64]) {
  %y = silu(%x) : f32[64,64]
  return "": %y
})";

inline TuningTask MakeTask(const std::string& text, std::set<int> constant_inputs = {}) {
  TuningTask task;
  auto region = ParseGraph(text);
  EXPECT_TRUE(region.ok()) << region.status();
  task.region = std::shared_ptr<const Graph>(*std::move(region));
  task.text = IdentifyGroup(*task.region, constant_inputs, *TargetByName("znver4")).key;
  task.digest = TaskDigest(task.text);
  task.constant_inputs = std::move(constant_inputs);
  return task;
}

inline Target HostOfTest() {
  auto target = HostTarget();
  EXPECT_TRUE(target.ok()) << target.status();
  return *std::move(target);
}

// `text` with feature maps in blocks of this machine's vector width, which its strategies require, instead
// of blocks of 16.
inline std::string InBlocksOfHost(const std::string& text) {
  return absl::StrReplaceAll(text, {{"{c1/16}", absl::StrCat("{c1/", HostOfTest().Lanes(4), "}")},
                                    {"{block = 16,", absl::StrCat("{block = ", HostOfTest().Lanes(4), ",")}});
}

// The baseline: the compiler's choice without tuning.
inline Candidate DefaultCandidate(const TuningTask& task) {
  const auto group = ScheduleGroup(*IdentifyGroup(*task.region, {}, HostOfTest()).region, "group",
                                   HostOfTest(), SymbolsOf(*task.region));
  EXPECT_TRUE(group.ok()) << group.status();
  return {std::string(group->strategy->name), group->config};
}

inline LocalBuilderOptions BuilderOptionsOfTest() {
  LocalBuilderOptions options;
  options.target = HostOfTest();
  // Only tests of these limits wait for them.
  options.seconds_limit = options.start_seconds_limit = 3600;
  return options;
}

inline BuildResult BuildOne(Builder& builder, const TuningTask& task, const Candidate& candidate) {
  const BuildRequest request = {&task, candidate};
  return builder.Build({&request, 1}).at(0);
}

// Quick, whatever else the machine is doing.
inline MeasureOptions QuickOptions() {
  MeasureOptions options;
  options.batch_seconds = 2e-4;
  options.precision = 0.05;
  options.worst_precision = 100;
  options.seconds_limit = 0.1;
  options.execution_seconds_limit = 3600;
  return options;
}

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_TASKS_FOR_TEST_H_
