// How far apart two correct ways of computing a graph may be.
//
// Problem: a compiler may contract, reorder and fold, so its results differ from the reference by rounding,
// which a graph amplifies by factors that nobody knows beforehand: a fixed tolerance is too narrow for some
// graphs and hides faults of others. Idea: the reference runs several times with random errors of a few units
// in the last place put on what each node takes and gives (Parker: Monte Carlo arithmetic, 1997). What these
// runs do to an element is what rounding can do to it; where they agree, compiled code has to agree too. That
// holds for indices and for integers that are rounded to: one that no error moves must be exact. Numbers that
// every arithmetic has exactly (small multiples of a power of two, and sums and products of them) get no
// error, so that ties and thresholds are still decided. What is moved, selected or cast alone has no error
// either.
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
  DType precision = DType::kF32;  // the type whose roundoff values of f32 have
  double ulps = 4;                // the largest error, in units of the roundoff
  bool keeps_exact = true;        // whether exact numbers get none
};

// The outputs of `graph` by the reference with random errors.
absl::StatusOr<std::vector<Tensor>> RunPerturbed(const Graph& graph, const std::vector<Tensor>& inputs,
                                                 const RoundingModel& model, uint64_t seed);

// Judges results of one graph for one set of inputs. Runs the reference when it needs to, which is more often
// where a result looks wrong. Not thread safe; the graph outlives it.
class Judge {
 public:
  // `expected`: what the reference gives.
  Judge(const Graph& graph, std::vector<Tensor> inputs, std::vector<Tensor> expected);

  const std::vector<Tensor>& expected() const { return expected_; }
  // Why `actual`, one for each output, cannot be the graph's outputs as computed in `precision`; empty where
  // it can.
  std::string Complaint(const std::vector<Tensor>& actual, DType precision = DType::kF32);

  // How far each element of each output may be from the expected one, as f64 of the output's shape: what the
  // efforts up to `effort`, at most kMostEffort, allow together. Infinite where they leave an element
  // undecided; where its shape is undecided, a scalar.
  static constexpr size_t kMostEffort = 2;
  std::vector<Tensor> Bounds(size_t effort);

 private:
  // What one effort (a number of runs with errors of some size) knows: the outputs of each run.
  struct Runs {
    bool done = false;
    std::vector<std::vector<Tensor>> outputs;
  };
  const Runs& RunsOf(DType precision, size_t effort);
  // As Bounds(), for one output by one effort.
  Tensor BoundOf(size_t i, DType precision, const Runs& runs) const;
  std::string CompareOutput(size_t i, const Tensor& actual, const Tensor& bound) const;

  const Graph& graph_;
  std::vector<Tensor> inputs_, expected_;
  std::vector<bool> is_exact_;  // of each output: nothing rounds on its way, or in one way alone
  std::vector<Runs> runs_[kNumDTypes];
};

}  // namespace attune::graph_fuzz

#endif  // ATTUNE_TESTS_GRAPH_FUZZ_ROUNDING_H_
