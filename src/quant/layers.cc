#include "quant/layers.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "opt/rewrite.h"

namespace attune::quant {
namespace {

bool IsF32Constant(const Value* value) {
  return value != nullptr && value->constant() != nullptr && value->type().dtype == DType::kF32;
}

// `wanted`, with the lowest unused number appended if the name is taken.
template <typename IsTaken>
std::string Unique(const std::string& wanted, IsTaken is_taken) {
  std::string name = wanted;
  for (int number = 2; is_taken(name); ++number) name = absl::StrCat(wanted, "#", number);
  return name;
}

}  // namespace

bool IsLayer(const Node& node) {
  if ((node.op() != Op::kConv && node.op() != Op::kMatMul) || !IsF32Constant(node.input(1))) return false;
  const Value* x = node.input(0);
  const bool is_matrix = node.op() != Op::kMatMul || node.input(1)->type().rank() == 2;
  return is_matrix && x->type().dtype == DType::kF32 && x->constant() == nullptr && x->type().is_static();
}

std::vector<Node*> LayersOf(const Graph& graph) {
  std::vector<Node*> layers;
  for (const auto& node : graph.nodes()) {
    if (IsLayer(*node)) layers.push_back(node.get());
  }
  return layers;
}

int WeightAxis(const Node& layer) {
  if (layer.op() == Op::kConv) return 0;
  return layer.attrs().Bool("transpose_b") ? 0 : 1;
}

int OutputAxis(const Node& layer) { return layer.op() == Op::kConv ? 1 : layer.output()->type().rank() - 1; }

int64_t NumChannels(const Node& layer) {
  return layer.input(1)->type().dims[static_cast<size_t>(WeightAxis(layer))].size;
}

int64_t MultiplyAdds(const Node& layer) {
  return layer.output()->type().num_elements() * (layer.input(1)->type().num_elements() / NumChannels(layer));
}

std::optional<LayerBias> BiasOf(const Graph& graph, Node* layer) {
  if (layer->op() == Op::kConv) {
    if (!IsF32Constant(layer->input(2))) return std::nullopt;
    return LayerBias{layer, 2, ToDoubles(*layer->input(2)->constant())};
  }
  Node* sum = OnlyUser(graph, layer->output());
  if (sum == nullptr || sum->op() != Op::kAdd || sum->output()->type() != layer->output()->type()) {
    return std::nullopt;
  }
  for (int i = 0; i < 2; ++i) {
    if (!IsF32Constant(sum->input(i))) continue;
    std::optional<std::vector<double>> values =
        ValuesAlong(*sum->input(i)->constant(), sum->output()->type(), OutputAxis(*layer));
    if (values) return LayerBias{sum, i, *std::move(values)};
  }
  return std::nullopt;
}

GraphNames::GraphNames(const Graph& graph) {
  // Values with a name come first, so that others do not take it.
  std::vector<Value*> unnamed;
  const auto visit = [&](Value* value) {
    value->name().empty() ? unnamed.push_back(value) : Name(value, value->name());
  };
  for (const auto& input : graph.inputs()) visit(input.get());
  for (const auto& node : graph.nodes()) {
    if (node->op() == Op::kConstant) continue;
    for (int i = 0; i < node->num_outputs(); ++i) visit(node->output(i));
  }
  for (Value* value : unnamed) {
    const Node* node = value->producer();
    if (node == nullptr) {
      Name(value, "input");
    } else {
      Name(value, node->name().empty() ? std::string(OpName(node->op())) : node->name());
    }
  }
  for (Node* layer : LayersOf(graph)) {
    const std::string wanted = layer->name().empty() ? Of(layer->output()) : layer->name();
    const std::string name =
        Unique(wanted, [this](const std::string& text) { return layers_by_name_.contains(text); });
    layers_[layer] = name;
    layers_by_name_[name] = layer;
  }
}

void GraphNames::Name(Value* value, std::string wanted) {
  wanted = Unique(wanted, [this](const std::string& text) { return taken_.contains(text); });
  taken_.insert(wanted);
  values_by_name_[wanted] = value;
  values_[value] = std::move(wanted);
}

Value* GraphNames::FindValue(std::string_view name) const {
  const auto it = values_by_name_.find(std::string(name));
  return it == values_by_name_.end() ? nullptr : it->second;
}

Node* GraphNames::FindLayer(std::string_view name) const {
  const auto it = layers_by_name_.find(std::string(name));
  return it == layers_by_name_.end() ? nullptr : it->second;
}

void EraseUnusedConstants(Graph& graph) {
  for (auto it = graph.nodes().begin(); it != graph.nodes().end();) {
    Node* node = it++->get();
    if (node->op() == Op::kConstant && graph.NumUses(node->output()) == 0) graph.Erase(node);
  }
}

}  // namespace attune::quant
