// Helpers for the tests of passes.
#ifndef ATTUNE_OPT_TESTING_H_
#define ATTUNE_OPT_TESTING_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "graph/text.h"
#include "opt/driver.h"

namespace attune {

// A graph from its text; aborts the test program where the text is wrong.
inline std::unique_ptr<Graph> ParseOrDie(std::string_view text) {
  absl::StatusOr<std::unique_ptr<Graph>> graph = ParseGraph(text);
  if (!graph.ok()) ADD_FAILURE() << graph.status() << "\n" << text;
  return *std::move(graph);
}

// The text of the graph after the passes of a plan, which may be a single pass's name.
inline std::string RunPasses(std::string_view plan, std::string_view text) {
  const std::unique_ptr<Graph> graph = ParseOrDie(text);
  const absl::StatusOr<PassPlan> parsed = ParsePassPlan(plan);
  if (!parsed.ok()) return parsed.status().ToString();
  const absl::StatusOr<std::vector<StepReport>> reports = RunPlan(*graph, *parsed);
  return reports.ok() ? Print(*graph) : reports.status().ToString();
}

// Expects `plan` to turn one graph into the other; both are compared as they print.
inline void ExpectRewrite(std::string_view plan, std::string_view before, std::string_view after) {
  EXPECT_EQ(RunPasses(plan, before), Print(*ParseOrDie(after))) << "by " << plan;
}

inline void ExpectUnchanged(std::string_view plan, std::string_view text) { ExpectRewrite(plan, text, text); }

}  // namespace attune

#endif  // ATTUNE_OPT_TESTING_H_
