// What random graphs have reached, summed over runs: operators, pairs of neighbours, strategies,
// instructions.
#ifndef ATTUNE_TESTS_GRAPH_FUZZ_COVERAGE_H_
#define ATTUNE_TESTS_GRAPH_FUZZ_COVERAGE_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "check.h"
#include "graph/graph.h"
#include "setting.h"

namespace attune::graph_fuzz {

// One after another: `graphs` seeds from `seed` on.
struct FuzzRun {
  uint64_t seed = 0;
  int64_t graphs = 0, refused = 0, failed = 0, seconds = 0;
};

class Coverage {
 public:
  // Counts a graph, its regions too, with what came out and what it was tried with.
  void Add(const Graph& graph, const Verdict& verdict, const std::vector<Setting>& settings);
  void Add(const FuzzRun& run) { runs_.push_back(run); }
  void Add(const Coverage& other);

  // The seed after the last one of all runs.
  uint64_t NextSeed() const;

  std::string ToJson() const;
  static absl::StatusOr<Coverage> FromJson(std::string_view text);

  // For people, several lines: how many graphs of how many nodes, how often each operator, strategy and
  // processor, which operators were seen seldom or never.
  std::string ToString() const;

 private:
  using Counts = std::map<std::string, int64_t>;

  // The name and the counts of each kind.
  template <typename Self, typename F>
  static void ForEach(Self& self, const F& f) {
    f("sizes", self.sizes_);
    f("operators", self.operators_);
    f("pairs", self.pairs_);
    f("strategies", self.strategies_);
    f("instructions", self.instructions_);
    f("processors", self.processors_);
    f("refusals", self.refusals_);
  }

  std::vector<FuzzRun> runs_;
  Counts sizes_;         // graphs of each number of nodes
  Counts operators_;     // graphs that have each
  Counts pairs_;         // "conv relu": graphs in which the second takes what the first makes
  Counts strategies_;    // graphs that code by each ran for
  Counts instructions_;  // graphs that code of each set ran for
  Counts processors_;    // programs
  Counts refusals_;      // graphs refused for each reason
};

}  // namespace attune::graph_fuzz

#endif  // ATTUNE_TESTS_GRAPH_FUZZ_COVERAGE_H_
