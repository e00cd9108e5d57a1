// Runs graphs by compiling them: what calibration and the tests of generated code use.
#ifndef ATTUNE_API_COMPILED_EXECUTOR_H_
#define ATTUNE_API_COMPILED_EXECUTOR_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/executor.h"
#include "opt/pass_plan.h"
#include "target/target.h"

namespace attune {

// Optimizes, compiles and runs the graph of each call. Safe from several threads.
class CompiledExecutor : public Executor {
 public:
  // An empty target is this machine; the code must run here. An empty plan compiles each operator by itself.
  // `threads` compile and run; 0: as many as processors.
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
