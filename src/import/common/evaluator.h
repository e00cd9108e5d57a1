// Computes values that must be known during import: shapes, axes, trip counts.
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

// Evaluates the backward slice of a value, whose leaves are constants and graph inputs with known values.
// Memory and work are bounded over the whole import, including steps of loops, so that a small file cannot
// ask for much: small results are kept, and values that cannot be computed are not tried again.
class Evaluator {
 public:
  explicit Evaluator(const BoundedExecutor* executor) : executor_(executor) {}

  // Sets the value of a graph input, to be used where shapes depend on it.
  void SetInput(const Value* input, Tensor value) { known_[input] = {std::move(value), true}; }
  // Whether the value of a graph input has been used.
  bool Used(const Value* input) const { return used_.contains(input); }
  // Makes a region's input stand for the value `outer` of the enclosing graph.
  void SetAlias(const Value* region_input, Value* outer) { aliases_[region_input] = outer; }

  // The value's data. Unimplemented, with the reason, if it depends on something unknown. Values of graph
  // inputs count as known only if `from_inputs`.
  absl::StatusOr<Tensor> Evaluate(const Value* value, bool from_inputs);

  // The data of an operand that the operator must know; `what` names it. These throw ImportFailure:
  // Unimplemented if it depends on something unknown; a broken model if a single number has another count, or
  // integers are floats or bools. Integers saturate to 64 bits.
  Tensor Require(const Value* value, std::string_view what);
  ExactNumber RequireScalar(const Value* value, std::string_view what);
  int64_t RequireInt(const Value* value, std::string_view what);
  std::vector<int64_t> RequireInts(const Value* value, std::string_view what);
  // nullopt unless the value follows from constants alone.
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
  // A slice as a separate graph without inputs, and the original values of its outputs.
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
  // By value, the unknown graph input on which it depends; in open_without_inputs_, the input may also be
  // one whose value is known but must not be used.
  std::unordered_map<const Value*, const Value*> open_, open_without_inputs_;
  WorkBudget budget_{int64_t{1} << 25, int64_t{1} << 25};
};

}  // namespace attune::importing

#endif  // ATTUNE_IMPORT_COMMON_EVALUATOR_H_
