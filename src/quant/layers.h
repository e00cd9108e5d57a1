// The layers of a graph that quantization is about, and names for them and for values.
//
// A layer is a convolution or a matrix product of f32 with constant weights. Its output channels are the rows
// of a convolution's weights [M, C/group, K…], and the columns of a matrix.
#ifndef ATTUNE_QUANT_LAYERS_H_
#define ATTUNE_QUANT_LAYERS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/graph.h"

namespace attune::quant {

bool IsLayer(const Node& node);
// In the graph's order; those in regions are not among them.
std::vector<Node*> LayersOf(const Graph& graph);

// The axis of the weights, and of the output, that counts output channels.
int WeightAxis(const Node& layer);
int OutputAxis(const Node& layer);
int64_t NumChannels(const Node& layer);
// Of one inference.
int64_t MultiplyAdds(const Node& layer);

// A constant that is added to each output channel: a convolution's third input, or an operand of the sum that
// alone uses a matrix product.
struct LayerBias {
  Node* node;  // whose input `input` it is
  int input;
  std::vector<double> values;  // one a channel
};
std::optional<LayerBias> BiasOf(const Graph& graph, Node* layer);

// Unique names for layers and for all values but constants: their own where they have one, else their
// node's or their operator's, with a number where that is taken. A clone, and a graph with other constants,
// has the same names.
class GraphNames {
 public:
  explicit GraphNames(const Graph& graph);

  const std::string& Of(const Value* value) const { return values_.at(value); }
  const std::string& Of(const Node* layer) const { return layers_.at(layer); }
  // nullptr where there is none.
  Value* FindValue(std::string_view name) const;
  Node* FindLayer(std::string_view name) const;

 private:
  void Name(Value* value, std::string wanted);

  std::unordered_set<std::string> taken_;
  std::unordered_map<const Value*, std::string> values_;
  std::unordered_map<const Node*, std::string> layers_;
  std::unordered_map<std::string, Value*> values_by_name_;
  std::unordered_map<std::string, Node*> layers_by_name_;
};

// Erases constants that nothing uses.
void EraseUnusedConstants(Graph& graph);

}  // namespace attune::quant

#endif  // ATTUNE_QUANT_LAYERS_H_
