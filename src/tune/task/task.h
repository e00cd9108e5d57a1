// Tasks: the distinct pieces of work of a network, each tuned once however often it occurs.
#ifndef ATTUNE_TUNE_TASK_TASK_H_
#define ATTUNE_TUNE_TASK_TASK_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "lower/strategy.h"
#include "target/target.h"
#include "tune/task/candidate_space.h"

namespace attune {

// One fused group: a convolution with its epilogue, say. Groups with equal text are one task.
struct TuningTask {
  std::string text;                     // canonical: types, layouts, operators, which inputs are constants
  std::string digest;                   // TaskDigest(text), the key of its records
  std::shared_ptr<const Graph> region;  // what a kernel computes
  std::set<int> constant_inputs;        // of the region's inputs, those that are weights: what a kernel
                                        // computes of one of them alone is prepared, and not timed
  double flops = 0;                     // of one execution
  double bytes = 0;                     // likewise, the least that must be read and written
  int uses = 0;                         // in the network

  // Analyzed anew, since a workload refers into the region.
  absl::StatusOr<Workload> Analyze() const;
};

// The task of that text, as records have it: uses 0, flops and bytes unknown. Fails where the text is none.
absl::StatusOr<TuningTask> ParseTask(const std::string& text);

// The tasks of a graph of fused groups whose layouts are assigned, in the order of their first use. Groups
// that no kernel computes, such as views, and those of loops' control are none.
absl::StatusOr<std::vector<TuningTask>> ExtractTasks(const Graph& graph, const Target& target);

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_TASK_H_
