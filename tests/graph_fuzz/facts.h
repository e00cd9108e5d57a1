// Algebraic facts: these hold exactly for a graph's outputs, however rounding goes. Outputs state them by
// their names, so that facts survive in the text of a graph.
#ifndef ATTUNE_TESTS_GRAPH_FUZZ_FACTS_H_
#define ATTUNE_TESTS_GRAPH_FUZZ_FACTS_H_

#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/tensor.h"

namespace attune::graph_fuzz {

// The names for fact number `n`: an output that is all zeros, and two outputs that are equal to the bit.
std::string ZeroFactName(int n);
std::pair<std::string, std::string> SameFactNames(int n);

// Describes the first fact that does not hold for `outputs`, one for each output of `graph`; empty if all
// hold.
std::string BrokenFact(const Graph& graph, const std::vector<Tensor>& outputs);

}  // namespace attune::graph_fuzz

#endif  // ATTUNE_TESTS_GRAPH_FUZZ_FACTS_H_
