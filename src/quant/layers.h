// The layers of a graph that can be quantized, and names for layers and values.
//
// A layer is a convolution or a matrix product of f32 with constant weights. Its output channels are the
// rows of a convolution's weights [M, C/group, K…], or the columns of a matrix.
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
// In the order of the graph, without those in regions.
std::vector<Node*> LayersOf(const Graph& graph);

// The axis of the weights, and of the output, for output channels.
int WeightAxis(const Node& layer);
int OutputAxis(const Node& layer);
int64_t NumChannels(const Node& layer);
// In one inference.
int64_t MultiplyAdds(const Node& layer);

// A constant that is added to each output channel: the third input of a convolution, or an operand of the
// sum that is the only user of a matrix product.
struct LayerBias {
  Node* node;  // the node that has the constant as input `input`
  int input;
  std::vector<double> values;  // per channel
};
std::optional<LayerBias> BiasOf(const Graph& graph, Node* layer);

// Unique names for layers and for all values except constants: the value's own name, or else that of its
// node or operator, with a number if the name is taken. A clone, and a graph with other constants, has the
// same names.
class GraphNames {
 public:
  explicit GraphNames(const Graph& graph);

  const std::string& Of(const Value* value) const { return values_.at(value); }
  const std::string& Of(const Node* layer) const { return layers_.at(layer); }
  // nullptr if there is none.
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
