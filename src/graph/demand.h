// The least that a graph's results demand of any implementation: what must be read and computed for them,
// whatever the data are.
//
// Problem: a roofline is a bound only if it counts no more than every kernel must do. A gather reads rows and
// not its table, a strided convolution skips columns, a slice leaves the rest unread and uncomputed. Idea:
// walk from the outputs to the inputs with the number of elements of each value that are needed at least.
// Each operator turns the number that is needed of its result into one for each operand; where that depends
// on data, it takes the least that data can make it. Cost: time in proportion to the nodes, and to the
// positions of windows along each axis.
#ifndef ATTUNE_GRAPH_DEMAND_H_
#define ATTUNE_GRAPH_DEMAND_H_

#include <vector>

#include "graph/graph.h"

namespace attune {

struct Demand {
  std::vector<double> elements_read;     // of each input, at least
  std::vector<double> elements_written;  // of each output
  // Operations on numbers of 32 bits, as CountFlops() counts them; operations on narrower numbers count in
  // proportion, since a vector holds more of them.
  double contraction_flops = 0, other_flops = 0;
};

// Dynamic dimensions may be 0. Nodes with regions demand nothing: their regions may not run.
Demand DemandOf(const Graph& graph);

}  // namespace attune

#endif  // ATTUNE_GRAPH_DEMAND_H_
