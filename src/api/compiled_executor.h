// Runs graphs by compiling them; used by calibration and by the tests of generated code.
#ifndef ATTUNE_API_COMPILED_EXECUTOR_H_
#define ATTUNE_API_COMPILED_EXECUTOR_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/executor.h"
#include "opt/pass_plan.h"
#include "target/target.h"

namespace attune {

// Optimizes, compiles and runs the graph in each call. Thread safe.
class CompiledExecutor : public Executor {
 public:
  // An empty target means this machine; the code must run here. With an empty plan, each operator is
  // compiled by itself. `threads` is used to compile and to run; 0: as many as processors.
  explicit CompiledExecutor(Target target = {}, PassPlan plan = DefaultPlan(), int threads = 1);

  absl::StatusOr<std::vector<Tensor>> Run(const Graph& graph,
                                          const std::vector<Tensor>& inputs) const override;

 private:
  Target target_;
  PassPlan plan_;
  int threads_;
};

}  // namespace attune

#endif  // ATTUNE_API_COMPILED_EXECUTOR_H_
