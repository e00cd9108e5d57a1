// What random graphs have reached: operators, pairs of neighbours, strategies.
#ifndef ATTUNE_TESTS_GRAPH_FUZZ_COVERAGE_H_
#define ATTUNE_TESTS_GRAPH_FUZZ_COVERAGE_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "setting.h"

namespace attune::graph_fuzz {

class Coverage {
 public:
  // Counts a graph, its regions too.
  void Add(const Graph& graph);
  void Add(const Setting& setting) { ++settings_[setting.cpu]; }
  void AddStrategies(const std::set<std::string>& strategies);

  // For people, several lines: how many graphs of how many nodes, how often each operator, strategy and
  // processor, which operators were seen seldom or never.
  std::string ToString() const;

 private:
  void AddNodes(const Graph& graph);

  int64_t graphs_ = 0, nodes_ = 0;
  std::vector<int64_t> sizes_;
  std::map<Op, int64_t> operators_;  // graphs that have one
  std::map<std::pair<Op, Op>, int64_t> pairs_;
  std::map<std::string, int64_t> strategies_, settings_;
};

}  // namespace attune::graph_fuzz

#endif  // ATTUNE_TESTS_GRAPH_FUZZ_COVERAGE_H_
