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

// One fused group, for example a convolution with its epilogue. Groups with equal text are one task.
struct TuningTask {
  std::string text;                     // canonical: types, layouts, operators, which inputs are constants
  std::string digest;                   // TaskDigest(text), the key of its records
  std::shared_ptr<const Graph> region;  // computed by the kernel
  std::set<int> constant_inputs;        // the inputs that are weights; a value computed from one
                                        // of them alone is prepacked, and its computation not timed
  double flops = 0;                     // of one execution
  double bytes = 0;                     // of one execution, the least that must be read and written
  int uses = 0;                         // in the network
  int sure_uses = 0;                    // that no branch skips

  // Analyzes the region again, since a workload has references into it.
  absl::StatusOr<Workload> Analyze() const;
};

// The least that one execution must do, whatever the data are (graph/demand.h).
struct TaskDemand {
  double contraction_flops = 0, other_flops = 0;
  double bytes_read = 0, bytes_written = 0;
};
TaskDemand DemandOf(const TuningTask& task);

// Parses the text of a task, as in records: both uses are 0, flops and bytes are unknown. Fails if it is not
// a task.
absl::StatusOr<TuningTask> ParseTask(const std::string& text);

// The tasks of a graph of fused groups with assigned layouts, in the order of their first use. Groups that
// no kernel computes, such as views, and groups for the control of loops are not tasks.
absl::StatusOr<std::vector<TuningTask>> ExtractTasks(const Graph& graph, const Target& target);

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_TASK_H_
