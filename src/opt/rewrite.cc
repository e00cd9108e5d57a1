#include "opt/rewrite.h"

#include <algorithm>
#include <cmath>

#include "base/float16.h"
#include "base/status.h"

namespace attune {

bool AllAre(const Ints& list, int64_t value) {
  return std::all_of(list.begin(), list.end(), [value](int64_t i) { return i == value; });
}

Node* OnlyUser(const Graph& graph, const Value* value) {
  const std::vector<Node*>& users = value->users();
  if (users.empty() || graph.IsOutput(value)) return nullptr;
  const bool same =
      std::all_of(users.begin(), users.end(), [&](const Node* user) { return user == users[0]; });
  return same ? users[0] : nullptr;
}

Node* ProducerOf(const Value* value, Op op) {
  if (value == nullptr || value->producer() == nullptr || value->producer()->op() != op) return nullptr;
  return value->producer();
}

Value* AddBefore(Graph& graph, Node* before, Op op, std::vector<Value*> inputs, Attributes attributes) {
  const absl::StatusOr<Node*> node =
      graph.Add(op, std::move(inputs), std::move(attributes), before->name(), before);
  return node.ok() ? (*node)->output() : nullptr;
}

void ReplaceNode(Graph& graph, Node* node, Value* replacement) {
  if (replacement->producer() != nullptr && replacement->name().empty()) {
    replacement->set_name(node->output()->name());
    node->output()->set_name("");
  }
  graph.ReplaceAllUses(node->output(), replacement);
  graph.Erase(node);
}

void ReplaceNodeAndProducers(Graph& graph, Node* node, Op op, Value* replacement) {
  std::vector<Node*> producers;
  for (const Value* input : node->inputs()) {
    Node* producer = ProducerOf(input, op);
    const bool known = std::find(producers.begin(), producers.end(), producer) != producers.end();
    if (producer != nullptr && !known) producers.push_back(producer);
  }
  ReplaceNode(graph, node, replacement);
  for (Node* producer : producers) {
    if (graph.NumUses(producer->output()) == 0) graph.Erase(producer);
  }
}

bool HasConstantInputs(const Node& node) {
  const auto is_fixed = [](const Value* input) {
    return input == nullptr || (input->constant() != nullptr && !input->producer()->attrs().Bool("frozen"));
  };
  return node.num_inputs() > 0 && std::ranges::all_of(node.inputs(), is_fixed);
}

absl::Status FoldNode(Graph& graph, Node* node, const Evaluator& evaluate) {
  std::vector<Tensor> inputs;
  for (const Value* input : node->inputs())
    inputs.push_back(input == nullptr ? Tensor() : *input->constant());
  ASSIGN_OR_RETURN(std::vector<Tensor> results, evaluate(*node, inputs));
  for (int i = 0; i < node->num_outputs(); ++i) {
    Value* output = node->output(i);
    if (graph.NumUses(output) == 0) continue;
    Value* constant = graph.AddConstant(std::move(results[i]), node->name(), node);
    constant->set_name(output->name());
    output->set_name("");
    graph.ReplaceAllUses(output, constant);
  }
  graph.Erase(node);
  return absl::OkStatus();
}

std::vector<double> ToDoubles(const Tensor& tensor) {
  std::vector<double> values(static_cast<size_t>(tensor.num_elements()));
  for (int64_t i = 0; i < tensor.num_elements(); ++i) values[i] = tensor.ToDouble(i);
  return values;
}

Tensor FromDoubles(DType dtype, Shape shape, std::span<const double> values) {
  Tensor tensor(dtype, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) tensor.SetDouble(static_cast<int64_t>(i), values[i]);
  return tensor;
}

Tensor ToBF16(const Tensor& tensor) {
  Tensor rounded(DType::kBF16, tensor.shape());
  std::ranges::transform(tensor.as<float>(), rounded.as_mutable<uint16_t>().begin(), FloatToBF16);
  return rounded;
}

std::optional<Tensor> ScaleAlong(const Tensor& tensor, int axis, std::span<const double> factors) {
  const int64_t size = tensor.shape()[axis];
  int64_t inner = 1;
  for (int i = axis + 1; i < tensor.rank(); ++i) inner *= tensor.shape()[i];
  Tensor scaled(tensor.dtype(), tensor.shape());
  const bool is_f32 = tensor.dtype() == DType::kF32;  // weights are, mostly: spare them the conversions
  for (int64_t row = 0; row * inner < tensor.num_elements(); ++row) {
    const double factor = factors[row % size];
    for (int64_t i = row * inner; i < (row + 1) * inner; ++i) {
      double product;
      if (is_f32) {
        float& element = scaled.as_mutable<float>()[i];
        element = static_cast<float>(tensor.as<float>()[i] * factor);
        product = element;
      } else {
        scaled.SetDouble(i, tensor.ToDouble(i) * factor);
        product = scaled.ToDouble(i);
      }
      if (!std::isfinite(product)) return std::nullopt;
    }
  }
  return scaled;
}

std::optional<std::vector<double>> ValuesAlong(const Tensor& constant, const TensorType& type, int axis) {
  const int64_t size = type.dims[axis].size;
  if (constant.rank() > type.rank() || !type.dims[axis].is_constant()) return std::nullopt;
  const int offset = type.rank() - constant.rank();
  for (int i = 0; i < constant.rank(); ++i) {
    const int64_t here = constant.shape()[i];
    if (here != 1 && !(i + offset == axis && here == size)) return std::nullopt;
  }
  std::vector<double> values = ToDoubles(constant);
  if (values.size() == 1) values.assign(static_cast<size_t>(size), values[0]);
  return values;
}

}  // namespace attune
