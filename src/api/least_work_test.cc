// The least work of the tasks of whole networks.
#include <gtest/gtest.h>

#include "api/network.h"
#include "graph/text.h"
#include "tune/job/lower_bound.h"

namespace attune {
namespace {

std::vector<TuningTask> TasksOf(const char* text) {
  auto graph = ParseGraph(text);
  EXPECT_TRUE(graph.ok()) << graph.status();
  if (!graph.ok()) return {};
  auto tasks = Network::FromGraph(**graph, "graph").Optimize().Tasks(*TargetByName("znver3"));
  EXPECT_TRUE(tasks.ok()) << tasks.status();
  return tasks.ok() ? *std::move(tasks) : std::vector<TuningTask>();
}

TEST(LeastWorkTest, ATableIsNotReadAsAWhole) {
  double read = 0, written = 0;
  for (const TuningTask& task : TasksOf(R"(graph(%t: f32[20000,64], %i: i64[16]) {
        %y = gather(%t, %i) {axis = 0} : f32[16,64]
        %z = exp(%y) : f32[16,64]
        return "y": %z
      })")) {
    const auto work = LeastWork(task, *TargetByName("znver3"));
    ASSERT_TRUE(work.ok()) << work.status();
    read += work->bytes_read;
    written += work->bytes_written;
    EXPECT_LT(task.bytes, 3 * 16 * 64 * 4) << task.text;
  }
  EXPECT_LT(read, 2 * 16 * 64 * 4);
  EXPECT_GE(written, 16 * 64 * 4);
}

TEST(LeastWorkTest, BranchesMayNotRun) {
  const auto tasks = TasksOf(R"(graph(%c: bool[], %x: f32[64,64]) {
        %a = exp(%x) : f32[64,64]
        %y = if(%c, %a) {
          graph(%u: f32[64,64]) { %p = matmul(%u, %u) : f32[64,64] return "": %p }
          graph(%v: f32[64,64]) { %q = softmax(%v) {axis = 1} : f32[64,64] return "": %q }
        } : f32[64,64]
        %z = log(%y) : f32[64,64]
        return "y": %z
      })");
  ASSERT_GE(tasks.size(), 4u);
  for (const TuningTask& task : tasks) {
    const bool is_in_branch =
        task.text.find("matmul") != std::string::npos || task.text.find("softmax") != std::string::npos;
    EXPECT_EQ(task.uses, 1) << task.text;
    EXPECT_EQ(task.sure_uses, is_in_branch ? 0 : 1) << task.text;
  }
}

}  // namespace
}  // namespace attune
