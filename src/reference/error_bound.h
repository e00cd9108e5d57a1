// How far rounding may move each element of a network's outputs: what compiled code may differ by.
//
// The graph runs in f64, where it rounds next to nothing: that is what is expected. It runs again several
// times while every operator's inputs and results are moved at random by as much as the rounding of compiled
// code may move them (rounding.h), in pairs of opposite signs. How far an element is moved, root mean square,
// is the deviation that rounding gives it in this network on this input, whatever cancels or amplifies on the
// way; a result may be a few of those from what is expected. Where a result jumps, as a floor or an argmax
// does, the runs try inputs that far to both sides. (The method is Monte Carlo arithmetic: Parker, UCLA
// CSD-970002, 1997.)
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
  Tensor expected;  // of the output's type, as f64 computes it
  // f64, of the same shape: how far an element may be from `expected`. Infinite where nothing is known:
  // rounding may make another index, another number of elements, an infinity or NaN of it.
  Tensor bound;
};

// Not thread safe.
class ErrorAnalysis {
 public:
  // `reference`: what Interpreter gives for `inputs`, which is one way to round and so is allowed.
  // `precision`: of the compiled network, in the place of f32.
  // Runs `graph` once; it must outlive the analysis. Errors are those of the run.
  static absl::StatusOr<ErrorAnalysis> Create(const Graph& graph, const std::vector<Tensor>& inputs,
                                              const std::vector<Tensor>& reference,
                                              const NetworkPrecision& precision = {});
  ~ErrorAnalysis();
  ErrorAnalysis(ErrorAnalysis&&) noexcept;
  ErrorAnalysis& operator=(ErrorAnalysis&&) noexcept;

  // Runs `graph` twice more, which makes the bounds more reliable. The same calls give the same bounds.
  void AddPair();

  // After at least one pair.
  std::vector<OutputBounds> Outputs() const;

 private:
  class Impl;
  explicit ErrorAnalysis(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// All of it: the reference's run, and `pairs` pairs. For small graphs, as of tests; eight pairs leave one
// false alarm in 10^11 elements, should the errors be as large as they are thought to be.
absl::StatusOr<std::vector<OutputBounds>> BoundErrors(const Graph& graph, const std::vector<Tensor>& inputs,
                                                      const NetworkPrecision& precision = {}, int pairs = 8);

}  // namespace attune

#endif  // ATTUNE_REFERENCE_ERROR_BOUND_H_
