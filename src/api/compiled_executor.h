// Runs graphs by compiling them, but does not compile again if the same graph is run again. Calibration and
// sensitivity analysis use it, since they run the same network with one sample after the other.
#ifndef ATTUNE_API_COMPILED_EXECUTOR_H_
#define ATTUNE_API_COMPILED_EXECUTOR_H_

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "api/compiled_model.h"
#include "graph/executor.h"
#include "opt/pass_plan.h"

namespace attune {

// Keeps the code and the constants of the last graph. Two graphs are the same if they print the same and
// their constants are at the same addresses. Thread safe; only one thread runs at a time.
class CompiledExecutor : public Executor {
 public:
  // For this machine. With an empty plan, each operator is compiled by itself. `threads` is used to compile
  // and to run; 0: as many as processors.
  explicit CompiledExecutor(PassPlan plan = DefaultPlan(), int threads = 1);

  absl::StatusOr<std::vector<Tensor>> Run(const Graph& graph,
                                          const std::vector<Tensor>& inputs) const override;

 private:
  // Identifies a graph.
  struct Key {
    std::string text;
    std::vector<const std::byte*> constants;
    bool operator==(const Key&) const = default;
  };
  static Key KeyOf(const Graph& graph);

  PassPlan plan_;
  int threads_;
  mutable std::mutex mutex_;
  mutable Key key_;
  mutable std::unique_ptr<Graph> graph_;  // keeps its constants alive
  mutable std::optional<Session> session_;
};

}  // namespace attune

#endif  // ATTUNE_API_COMPILED_EXECUTOR_H_
