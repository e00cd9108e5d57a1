// Computes how far a correct kernel of a group may deviate from the reference, element by element.
//
// Problem: the rounding error of a contraction is proportional to Σ|x||w|, and a group has other operators
// around it, even other contractions. No tolerance relative to the result is both tight and wide enough.
// Idea: follow the errors through the group. A contraction adds γ u Σ|x||w| (reference/compare.h), any
// other operator a few roundings of its results. To find how a node propagates the errors of its inputs,
// evaluate it again with inputs that are off by their errors: all up, all down, and each up or down at
// random. At the end, add the tolerance of a single operator. The bound is an estimate, not a proof; but a
// wrong kernel is off by a share of the values themselves. Cost: about five times that of the reference.
#ifndef ATTUNE_TUNE_TASK_ERROR_BOUNDS_H_
#define ATTUNE_TUNE_TASK_ERROR_BOUNDS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/tensor.h"

namespace attune {

struct BoundedOutput {
  Tensor value;
  std::vector<float> bound;  // the largest |a - value| allowed for each element; 0: exact
  // The same for strategies that spread rounding (lower/strategy.h); empty: the same as `bound`.
  std::vector<float> spread_bound;
};

// One entry for each output of `region`. Uses all cores. Errors come from the interpreter.
absl::StatusOr<std::vector<BoundedOutput>> EvaluateWithBounds(const Graph& region,
                                                              const std::vector<Tensor>& inputs);

}  // namespace attune

#endif  // ATTUNE_TUNE_TASK_ERROR_BOUNDS_H_
