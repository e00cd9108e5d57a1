// Runs a pass plan: times, verifies, dumps and disables passes, so that no pass has to.
#ifndef ATTUNE_OPT_DRIVER_H_
#define ATTUNE_OPT_DRIVER_H_

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "base/progress.h"
#include "graph/graph.h"
#include "opt/pass.h"
#include "opt/pass_plan.h"

namespace attune {

struct RunOptions {
  // Verify the graph after each pass that changed it. An error names the pass.
  bool verify = true;
  // Passes that are skipped wherever the plan has them.
  std::set<std::string, std::less<>> disabled;
  // Where not empty, an existing folder: the graph before the plan is written to 00_input.txt in it, and
  // the one after each pass that changed it to NN_PASS.txt, large constants abbreviated.
  std::string dump_folder;
  // Called after each pass, also where it changed nothing; `step` counts the plan's steps from 0.
  std::function<void(int step, std::string_view pass, bool changed, const Graph&)> observer;
  // Computes constants; empty: the reference interpreter.
  Evaluator evaluate;
  // The means of the pass narrow to measure, and a report that it fills; nullptr: no report.
  ErrorProbe measurement;
  NarrowingReport* narrowing = nullptr;
  std::function<void(std::string_view)> log = [](std::string_view) {};
  // Asked whether to continue, and told the progress, before each pass.
  WorkControl control;
  // Times the passes. It must outlive the run.
  const Clock* clock = &SystemClock();
};

struct StepReport {
  std::string pass;
  bool disabled = false;
  bool changed = false;
  double seconds = 0;   // of the pass itself
  int nodes_after = 0;  // constants and regions not counted
};

// Rewrites `graph`, which is verified and without fused nodes, as `plan` says: each pass is applied to
// the regions of if and loop, innermost first, then to the graph. One report a step. On an error the
// graph must not be used further.
absl::StatusOr<std::vector<StepReport>> RunPlan(Graph& graph, const PassPlan& plan,
                                                const RunOptions& options = {});

}  // namespace attune

#endif  // ATTUNE_OPT_DRIVER_H_
