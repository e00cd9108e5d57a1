// The coverage of random graphs, summed over runs: operators, pairs of neighbours, strategies,
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

// A run over `graphs` consecutive seeds from `seed` on.
struct FuzzRun {
  uint64_t seed = 0;
  int64_t graphs = 0, refused = 0, failed = 0, seconds = 0;
};

class Coverage {
 public:
  // Counts a graph and its regions, with its verdict and the settings that it was tried with.
  void Add(const Graph& graph, const Verdict& verdict, const std::vector<Setting>& settings);
  void Add(const FuzzRun& run) { runs_.push_back(run); }
  void Add(const Coverage& other);

  // The seed after the last seed of all runs.
  uint64_t NextSeed() const;

  std::string ToJson() const;
  static absl::StatusOr<Coverage> FromJson(std::string_view text);

  // Several lines for people: how many graphs of which size, how often each operator, strategy and
  // processor occurred, and which operators were seen seldom or never.
  std::string ToString() const;

 private:
  using Counts = std::map<std::string, int64_t>;

  // Calls f(name, counts) for each kind of counts.
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
  Counts sizes_;         // graphs by number of nodes
  Counts operators_;     // graphs that contain the operator
  Counts pairs_;         // "conv relu": graphs in which the second takes the first's result
  Counts strategies_;    // graphs that ran code by the strategy
  Counts instructions_;  // graphs that ran code with the instruction set
  Counts processors_;    // programs
  Counts refusals_;      // refused graphs by reason
};

}  // namespace attune::graph_fuzz

#endif  // ATTUNE_TESTS_GRAPH_FUZZ_COVERAGE_H_
