// Runs graphs by compiling them, and compiles a graph that runs again once: what calibration and sensitivity
// run on, which give the same network one sample after the other.
#ifndef ATTUNE_API_REUSING_EXECUTOR_H_
#define ATTUNE_API_REUSING_EXECUTOR_H_

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

// Keeps the code of the last graph, and that graph's constants alive: a graph is the same where it prints the
// same and its constants lie in the same memory. Safe from several threads, one of which runs at a time.
class ReusingExecutor : public Executor {
 public:
  // For this machine. `threads` compile and run; 0: as many as processors.
  explicit ReusingExecutor(PassPlan plan = DefaultPlan(), int threads = 0);

  absl::StatusOr<std::vector<Tensor>> Run(const Graph& graph,
                                          const std::vector<Tensor>& inputs) const override;

 private:
  // What tells graphs apart.
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
  mutable std::unique_ptr<Graph> graph_;  // for its constants
  mutable std::optional<Session> session_;
};

}  // namespace attune

#endif  // ATTUNE_API_REUSING_EXECUTOR_H_
