// Which values are to be stored in 8 bits, so that the passes of opt/ find integers where they look for them.
//
// Problem: quantizing every value loses accuracy where nothing is stored (what a kernel has in registers),
// and quantizing what products take alone leaves floats between them in memory. Idea: a site is a value that
// a kernel stores: what an integer layer takes, taken before the operators that only move or select (they
// work on the integers then, sink_dequantize); the earlier operand of a sum of feature maps, as the kernel of
// the later one adds it; what a pool takes. What is concatenated has one scale, and so has all that shares a
// value with it. Sums that run through transformers from layer to layer stay floats: only feature maps
// (rank 4, or what a convolution takes) are quantized for other users than layers.
#ifndef ATTUNE_QUANT_SITES_H_
#define ATTUNE_QUANT_SITES_H_

#include <map>
#include <set>
#include <vector>

#include "graph/graph.h"

namespace attune::quant {

struct Site {
  Value* value;
  // Those that are to take the quantized value, each once.
  std::vector<Node*> users;
  int group;  // sites of one group have the same parameters
};

struct Sites {
  std::vector<Site> sites;
  int num_groups = 0;
  std::map<const Node*, int> group_of_layer;  // that of what the layer takes
};

// `layers` are those that multiply integers. In the graph's order.
Sites FindSites(const Graph& graph, const std::set<const Node*>& layers);

// Every value that may be a site, whatever the layers: what is to be calibrated. Static f32.
std::vector<Value*> CandidateValues(const Graph& graph);

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_SITES_H_
