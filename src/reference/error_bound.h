// Bounds how far rounding may move each element of a network's outputs, and so how far compiled code may
// differ.
//
// The graph runs in f64, where it has almost no rounding: this gives the expected outputs. Then it runs
// several more times, in pairs with opposite signs, with random noise on every operator's inputs and
// results of the size that rounding in compiled code may have (rounding.h). The root mean square of an
// element's change is the deviation that rounding causes in this network for this input, including all
// cancellation and amplification on the way; a result may be a few deviations off the expected one. For
// operators whose result jumps, such as floor or argmax, the runs move the inputs that far to both sides.
// (The method is Monte Carlo arithmetic: Parker, UCLA CSD-970002, 1997.)
#ifndef ATTUNE_REFERENCE_ERROR_BOUND_H_
#define ATTUNE_REFERENCE_ERROR_BOUND_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/tensor.h"
#include "reference/compare.h"

namespace attune {

// For Compare(expected, actual, bound).
struct OutputBounds {
  Tensor expected;  // with the output's type; computed in f64
  // f64, same shape: how far an element may be from `expected`. Infinite if nothing is known: rounding may
  // change an index or the number of elements, or cause an infinity or NaN.
  Tensor bound;
};

// Not thread safe.
class ErrorAnalysis {
 public:
  // `reference`: the Interpreter's outputs for `inputs`; they are one way to round, and therefore allowed.
  // `precision`: the compiled network's, in place of f32. Runs `graph` once; it must outlive the analysis.
  // Returns the errors of this run.
  static absl::StatusOr<ErrorAnalysis> Create(const Graph& graph, const std::vector<Tensor>& inputs,
                                              const std::vector<Tensor>& reference,
                                              const NetworkPrecision& precision = {});
  ~ErrorAnalysis();
  ErrorAnalysis(ErrorAnalysis&&) noexcept;
  ErrorAnalysis& operator=(ErrorAnalysis&&) noexcept;

  // Runs `graph` twice more, which makes the bounds more reliable. Deterministic: the same calls give the
  // same bounds.
  void AddPair();

  // Requires at least one pair.
  std::vector<OutputBounds> Outputs() const;

 private:
  class Impl;
  explicit ErrorAnalysis(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace attune

#endif  // ATTUNE_REFERENCE_ERROR_BOUND_H_
