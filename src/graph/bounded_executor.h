// An executor that stops where a computation becomes too large.
#ifndef ATTUNE_GRAPH_BOUNDED_EXECUTOR_H_
#define ATTUNE_GRAPH_BOUNDED_EXECUTOR_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/executor.h"
#include "graph/work.h"

namespace attune {

class BoundedExecutor : public Executor {
 public:
  // The same as Run, but spends `budget` before each node, in loops each time that the node runs.
  // ResourceExhausted once the budget is spent.
  virtual absl::StatusOr<std::vector<Tensor>> RunWithin(const Graph& graph, const std::vector<Tensor>& inputs,
                                                        WorkBudget& budget) const = 0;
};

}  // namespace attune

#endif  // ATTUNE_GRAPH_BOUNDED_EXECUTOR_H_
