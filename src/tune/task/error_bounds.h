// How far a correct kernel of a group may be from the reference, element by element.
//
// Problem: a group is a contraction whose rounding error is in proportion to Σ|x||w|, with other operators
// around it, even other contractions. No tolerance relative to the result is both tight and wide enough.
// Idea: follow the errors through the group. A contraction brings γ u Σ|x||w| (reference/compare.h), any
// other operator some roundings of its results. What a node makes of its inputs' errors is found by
// evaluating it again with inputs that are off by that much: all up, all down, and each up or down at random.
// The tolerance of a single operator is allowed for besides at the end. That is an estimate, not a proof; a
// wrong kernel is off by a share of the values themselves. Cost: the reference, about five times.
#ifndef ATTUNE_TUNE_TASK_ERROR_BOUNDS_H_
#define ATTUNE_TUNE_TASK_ERROR_BOUNDS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/tensor.h"

namespace attune {

struct BoundedOutput {
  Tensor value;
  std::vector<float> bound;  // the largest |a - value| allowed of each element; 0: exact
  // The same for strategies that spread rounding (lower/strategy.h); empty: no different.
  std::vector<float> spread_bound;
};

// The outputs of `region`, one for each. Uses all cores. Errors are the interpreter's.
absl::StatusOr<std::vector<BoundedOutput>> EvaluateWithBounds(const Graph& region,
                                                              const std::vector<Tensor>& inputs);

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_ERROR_BOUNDS_H_
