// The interface of everything that computes a graph: the reference interpreter, or compiled code.
#ifndef ATTUNE_GRAPH_EXECUTOR_H_
#define ATTUNE_GRAPH_EXECUTOR_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace attune {

class Executor {
 public:
  virtual ~Executor() = default;

  // The outputs of `graph` for `inputs`, in order; each input has the dtype and shape of its graph input.
  // A dynamic output dimension has its actual size. Safe from several threads.
  virtual absl::StatusOr<std::vector<Tensor>> Run(const Graph& graph,
                                                  const std::vector<Tensor>& inputs) const = 0;
};

}  // namespace attune

#endif  // ATTUNE_GRAPH_EXECUTOR_H_
