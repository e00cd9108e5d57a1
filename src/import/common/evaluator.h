// Computes, during import, the values that must be known: shapes, axes, trip counts.
#ifndef ATTUNE_IMPORT_COMMON_EVALUATOR_H_
#define ATTUNE_IMPORT_COMMON_EVALUATOR_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/bounded_executor.h"
#include "graph/graph.h"

namespace attune::importing {

// Runs the backward slice of a value, whose leaves are constants and the graph inputs whose values are
// known. Memory and work are bounded over the whole import, steps of loops included, so that a small file
// cannot ask for much: what has been computed is kept where it is small, and what cannot be is not tried
// again.
class Evaluator {
 public:
  explicit Evaluator(const BoundedExecutor* executor) : executor_(executor) {}

  // A graph input's value, to be used where shapes depend on it.
  void SetInput(const Value* input, Tensor value) { known_[input] = {std::move(value), true}; }
  // Whether a graph input's value has been looked at.
  bool Used(const Value* input) const { return used_.contains(input); }
  // A region's input is the value `outer` of the enclosing graph.
  void SetAlias(const Value* region_input, Value* outer) { aliases_[region_input] = outer; }

  // The value's data. Unimplemented when it depends on what is not known, with the reason. Values of graph
  // inputs count as known only when `from_inputs`.
  absl::StatusOr<Tensor> Evaluate(const Value* value, bool from_inputs);

  // The data of what an operator must know, its `what`. They throw ImportFailure: NS where it depends on what
  // is not known, a broken model where a single number has another count, or integers are floats or truth
  // values. An integer is saturated to 64 bits.
  Tensor Require(const Value* value, std::string_view what);
  double RequireScalar(const Value* value, std::string_view what);
  int64_t RequireInt(const Value* value, std::string_view what);
  std::vector<int64_t> RequireInts(const Value* value, std::string_view what);
  // Nothing unless the value follows from constants alone.
  std::optional<Tensor> FromConstants(const Value* value);

 private:
  struct Known {
    Tensor data;
    bool from_inputs;  // depends on a graph input's value
  };
  struct Slice {
    std::vector<const Node*> nodes;  // in order
    bool from_inputs = false;
  };
  // A slice as a graph of its own without inputs, and the values that its outputs are.
  struct Extract {
    Graph graph;
    std::vector<const Value*> values;
  };

  const Known* Find(const Value* value, bool from_inputs);
  absl::StatusOr<Known> Resolve(const Value* value, bool from_inputs);
  absl::StatusOr<Slice> Collect(const Value* value, bool from_inputs);
  absl::StatusOr<Extract> MakeExtract(const Slice& slice, const Value* target);

  const BoundedExecutor* executor_;
  std::unordered_set<const Value*> used_;
  std::unordered_map<const Value*, Known> known_;
  std::unordered_map<const Value*, Value*> aliases_;
  // Values that depend on a graph input whose value is not known, which that is; and those on which one does
  // that is known but must not be used.
  std::unordered_map<const Value*, const Value*> open_, open_without_inputs_;
  WorkBudget budget_{int64_t{1} << 25, int64_t{1} << 25};
};

}  // namespace attune::importing

#endif  // ATTUNE_IMPORT_COMMON_EVALUATOR_H_
