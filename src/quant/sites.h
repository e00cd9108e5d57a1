// Chooses the values to store in 8 bits, such that the passes of opt/ find integers where they look for
// them.
//
// Problem: quantizing every value loses accuracy where nothing is stored (values that a kernel keeps in
// registers), and quantizing only the inputs of products leaves floats between them in memory. Idea: a site
// is a value that a kernel stores: the input of an integer layer, taken before operators that only move or
// select (which then work on integers, see sink_dequantize); the earlier operand of a sum of feature maps,
// since the kernel of the later one adds it; the input of a pool. Concatenated values have a common scale,
// and so have all values that share one with them. The residual sums of transformers stay floats: only
// feature maps (rank 4, or inputs of convolutions) are quantized for users other than layers.
#ifndef ATTUNE_QUANT_SITES_H_
#define ATTUNE_QUANT_SITES_H_

#include <map>
#include <set>
#include <vector>

#include "graph/graph.h"

namespace attune::quant {

struct Site {
  Value* value;
  // The nodes that use the quantized value, each once.
  std::vector<Node*> users;
  int group;  // sites of one group have the same parameters
};

struct Sites {
  std::vector<Site> sites;
  int num_groups = 0;
  std::map<const Node*, int> group_of_layer;  // the group of the layer's input
};

// `layers` are the integer layers. Sites are in the order of the graph.
Sites FindSites(const Graph& graph, const std::set<const Node*>& layers);

// Every value that may be a site, for any set of layers, and must be calibrated. Static f32.
std::vector<Value*> CandidateValues(const Graph& graph);

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_SITES_H_
