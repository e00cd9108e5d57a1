// Algebraic facts: what must hold of a graph's outputs exactly, whatever rounding does. They are stated by
// the outputs' names, so that they survive in the text of a graph.
#ifndef ATTUNE_TESTS_GRAPH_FUZZ_FACTS_H_
#define ATTUNE_TESTS_GRAPH_FUZZ_FACTS_H_

#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "graph/tensor.h"

namespace attune::graph_fuzz {

// Of fact number `n`: an output that is all zeros, and two outputs that are equal to the bit.
std::string ZeroFactName(int n);
std::pair<std::string, std::string> SameFactNames(int n);

// The first fact that does not hold of `outputs`, one for each output of `graph`, in words; empty where all
// do.
std::string BrokenFact(const Graph& graph, const std::vector<Tensor>& outputs);

}  // namespace attune::graph_fuzz

#endif  // ATTUNE_TESTS_GRAPH_FUZZ_FACTS_H_
