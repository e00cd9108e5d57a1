// How far apart two correct ways of computing a graph may be.
//
// Problem: a compiler may contract, reorder and fold, so its results differ from the reference by rounding,
// which a graph amplifies by factors that are not known beforehand: a fixed tolerance is too narrow for some
// graphs and hides faults of others. Idea: the reference runs several times, with random errors of a few
// units in the last place on the operands and results of each node (Parker: Monte Carlo arithmetic, 1997).
// The spread of an element over these runs shows how far rounding can move it; where the runs agree, compiled
// code has to agree too. That also holds for indices and for integers that are rounded to: if no error moves
// one, it must be exact. Numbers that are exact in every arithmetic (small multiples of a power of two, and
// sums and products of them) get no error, so that ties and thresholds are still decided. Numbers that are
// only moved, selected or cast get no error either.
#ifndef ATTUNE_TESTS_GRAPH_FUZZ_ROUNDING_H_
#define ATTUNE_TESTS_GRAPH_FUZZ_ROUNDING_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "graph/tensor.h"

namespace attune::graph_fuzz {

struct RoundingModel {
  DType precision = DType::kF32;  // values of f32 have the roundoff of this type
  double ulps = 4;                // the largest error, in units of the roundoff
  bool keeps_exact = true;        // whether exact numbers get no error
};

// The outputs of `graph` as the reference computes them with random errors.
absl::StatusOr<std::vector<Tensor>> RunPerturbed(const Graph& graph, const std::vector<Tensor>& inputs,
                                                 const RoundingModel& model, uint64_t seed);

// Judges results of one graph for one set of inputs. Runs the reference when needed, more often if a result
// looks wrong. Not thread safe; the graph outlives it.
class Judge {
 public:
  // `expected`: the reference's outputs.
  Judge(const Graph& graph, std::vector<Tensor> inputs, std::vector<Tensor> expected);

  const std::vector<Tensor>& expected() const { return expected_; }
  // Why `actual`, one tensor for each output, cannot be the graph's outputs computed in `precision`; empty
  // if it can.
  std::string Complaint(const std::vector<Tensor>& actual, DType precision = DType::kF32);

  // How far each element of each output may be from the expected one, as f64 of the output's shape, by all
  // efforts up to `effort` (at most kMostEffort) together. Infinite for an element that they leave
  // undecided; an infinite scalar for an output whose shape is undecided.
  static constexpr size_t kMostEffort = 2;
  std::vector<Tensor> Bounds(size_t effort);

 private:
  // The result of one effort (a number of runs with errors of some size): the outputs of each run.
  struct Runs {
    bool done = false;
    std::vector<std::vector<Tensor>> outputs;
  };
  const Runs& RunsOf(DType precision, size_t effort);
  // Like Bounds(), for one output by one effort.
  Tensor BoundOf(size_t i, DType precision, const Runs& runs) const;
  std::string CompareOutput(size_t i, const Tensor& actual, const Tensor& bound) const;

  const Graph& graph_;
  std::vector<Tensor> inputs_, expected_;
  std::vector<bool> is_exact_;  // by output: no rounding affects it, or only one that every compiler makes
  std::vector<Runs> runs_[kNumDTypes];
};

}  // namespace attune::graph_fuzz

#endif  // ATTUNE_TESTS_GRAPH_FUZZ_ROUNDING_H_
