#include "reference/interpreter.h"

#include <map>
#include <new>
#include <string>
#include <unordered_map>

#include "absl/strings/str_join.h"
#include "base/status.h"
#include "reference/kernels.h"
#include "reference/magnitude.h"
#include "reference/values.h"

namespace attune {
namespace {

using Environment = std::unordered_map<const Value*, Tensor>;

// Checks that `tensor` can be a value of `type`: constant sizes must be equal, and symbols within their
// bounds.
absl::Status CheckType(const Tensor& tensor, const TensorType& type, std::string_view what) {
  bool fits = tensor.dtype() == type.dtype && tensor.rank() == type.rank();
  for (int axis = 0; fits && axis < type.rank(); ++axis) {
    const Dim& dim = type.dims[axis];
    const int64_t size = tensor.shape()[axis];
    fits = dim.is_constant() ? size == dim.size : size <= dim.size;
  }
  if (fits) return absl::OkStatus();
  return InvalidInput(what, " is ", DTypeName(tensor.dtype()), "[", absl::StrJoin(tensor.shape(), ","),
                      "], expected ", ToString(type));
}

absl::Status CheckInputs(const Node& node, const std::vector<Tensor>& inputs) {
  if (static_cast<int>(inputs.size()) != node.num_inputs()) {
    return InvalidInput(inputs.size(), " inputs given, takes ", node.num_inputs());
  }
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (node.input(i) == nullptr) continue;
    RETURN_IF_ERROR(CheckType(inputs[i], node.input(i)->type(), absl::StrCat("input ", i)));
  }
  return absl::OkStatus();
}

absl::Status CheckOutputs(const Node& node, const std::vector<Tensor>& outputs) {
  for (int i = 0; i < node.num_outputs(); ++i) {
    const absl::Status status = CheckType(outputs[i], node.output(i)->type(), absl::StrCat("output ", i));
    if (!status.ok()) return InternalError(status.message());
  }
  return absl::OkStatus();
}

// 'node "layer1.conv"': the node's name, or else that of its first output.
std::string Describe(const Node& node) {
  if (!node.name().empty()) return absl::StrCat("node \"", node.name(), "\"");
  return node.num_outputs() == 0 ? "node" : absl::StrCat("node \"", node.output()->name(), "\"");
}

// The number of remaining uses of each value.
std::unordered_map<const Value*, int64_t> CountUses(const Graph& graph) {
  std::unordered_map<const Value*, int64_t> uses;
  for (const auto& node : graph.nodes()) {
    for (const Value* input : node->inputs()) {
      if (input != nullptr) ++uses[input];
    }
  }
  for (const Graph::Output& output : graph.outputs()) ++uses[output.value];
  return uses;
}

// Calls kernel(node, inputs) after checking the inputs. Errors name the operator.
template <typename Kernel>
auto CallKernel(Kernel kernel, const Node& node, const std::vector<Tensor>& inputs)
    -> decltype(kernel(node, inputs)) {
  absl::Status status = CheckInputs(node, inputs);
  try {
    if (status.ok()) {
      auto result = kernel(node, inputs);
      if (result.ok()) return result;
      status = result.status();
    }
  } catch (const std::bad_alloc&) {
    status = absl::ResourceExhaustedError("out of memory");
  }
  return Annotate(status, OpName(node.op()));
}

absl::Status CheckGraphInputs(const Graph& graph, const std::vector<Tensor>& inputs) {
  if (inputs.size() != graph.inputs().size()) {
    return InvalidInput(inputs.size(), " inputs given, the graph takes ", graph.inputs().size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value& input = *graph.inputs()[i];
    RETURN_IF_ERROR(CheckType(inputs[i], input.type(), absl::StrCat("input \"", input.name(), "\"")));
  }
  return absl::OkStatus();
}

using MagnitudeKernel = absl::StatusOr<Tensor> (*)(const Node& node, std::span<const Tensor> inputs);

MagnitudeKernel FindMagnitude(Op op) {
  switch (op) {
    case Op::kConv:
    case Op::kConvTranspose:
      return reference::ConvMagnitude;
    case Op::kDeformConv:
      return reference::DeformConvMagnitude;
    case Op::kMatMul:
      return reference::MatMulMagnitude;
    case Op::kAttention:
      return reference::AttentionMagnitude;
    case Op::kReduceSum:
      return reference::ReduceSumMagnitude;
    default:
      return nullptr;
  }
}

// Evaluates a node with regions; `evaluate` is called for the nodes inside.
absl::StatusOr<std::vector<Tensor>> EvaluateWith(const NodeEvaluator& evaluate, const Node& node,
                                                 const std::vector<Tensor>& inputs, WorkBudget* budget) {
  // Spend something in any case, since a region may have no node that costs anything.
  const auto run = [&](const Graph& region, std::vector<Tensor> arguments) -> reference::Outputs {
    if (budget != nullptr) RETURN_IF_ERROR(budget->Spend(node));
    return RunGraph(region, std::move(arguments), evaluate, budget);
  };
  const auto kernel = [&](const Node& control, reference::Inputs arguments) {
    return reference::EvaluateRegions(control, arguments, run);
  };
  return CallKernel(kernel, node, inputs);
}

}  // namespace

namespace reference {

Outputs RunRegion(const Graph& region, std::vector<Tensor> inputs) {
  return RunGraph(region, std::move(inputs), EvaluateNode);
}

Shape ResolveShape(const Node& node, Inputs inputs, int i) {
  std::map<std::string, int64_t> sizes;
  for (int k = 0; k < node.num_inputs(); ++k) {
    if (node.input(k) == nullptr) continue;
    const TensorType& type = node.input(k)->type();
    for (int axis = 0; axis < type.rank(); ++axis) {
      if (!type.dims[axis].is_constant()) sizes[type.dims[axis].symbol] = inputs[k].shape()[axis];
    }
  }
  Shape shape = node.output(i)->type().shape();
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const auto known = sizes.find(node.output(i)->type().dims[axis].symbol);
    if (known != sizes.end()) shape[axis] = known->second;
  }
  return shape;
}

}  // namespace reference

absl::StatusOr<std::vector<Tensor>> Interpreter::Run(const Graph& graph,
                                                     const std::vector<Tensor>& inputs) const {
  RETURN_IF_ERROR(CheckGraphInputs(graph, inputs));
  return RunGraph(graph, inputs, EvaluateNode);
}

absl::StatusOr<std::vector<Tensor>> Interpreter::RunWithin(const Graph& graph,
                                                           const std::vector<Tensor>& inputs,
                                                           WorkBudget& budget) const {
  RETURN_IF_ERROR(CheckGraphInputs(graph, inputs));
  return RunGraph(graph, inputs, EvaluateNode, &budget);
}

absl::StatusOr<std::vector<Tensor>> EvaluateNode(const Node& node, const std::vector<Tensor>& inputs) {
  ASSIGN_OR_RETURN(std::vector<Tensor> outputs, CallKernel(reference::FindKernel(node.op()), node, inputs));
  RETURN_IF_ERROR(Annotate(CheckOutputs(node, outputs), OpName(node.op())));
  return outputs;
}

absl::StatusOr<std::vector<Tensor>> RunGraph(const Graph& graph, std::vector<Tensor> inputs,
                                             const NodeEvaluator& evaluate, WorkBudget* budget) {
  Environment values;
  auto uses = CountUses(graph);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Value* input = graph.inputs()[i].get();
    if (uses[input] > 0) values[input] = std::move(inputs[i]);
  }
  inputs.clear();
  for (const auto& node : graph.nodes()) {
    if (budget != nullptr) RETURN_IF_ERROR(budget->Spend(*node));
    std::vector<Tensor> arguments;
    for (const Value* input : node->inputs())
      arguments.push_back(input == nullptr ? Tensor() : values.at(input));
    for (const Value* input : node->inputs()) {
      if (input != nullptr && --uses[input] == 0) values.erase(input);
    }
    absl::StatusOr<std::vector<Tensor>> outputs = node->num_regions() == 0
                                                      ? evaluate(*node, arguments)
                                                      : EvaluateWith(evaluate, *node, arguments, budget);
    if (!outputs.ok()) return Annotate(outputs.status(), Describe(*node));
    for (int i = 0; i < node->num_outputs(); ++i) {
      if (uses[node->output(i)] > 0) values[node->output(i)] = std::move((*outputs)[i]);
    }
  }
  std::vector<Tensor> outputs;
  for (const Graph::Output& output : graph.outputs()) outputs.push_back(values.at(output.value));
  return outputs;
}

bool IsContraction(Op op) { return FindMagnitude(op) != nullptr; }

absl::StatusOr<Tensor> EvaluateMagnitude(const Node& node, const std::vector<Tensor>& inputs) {
  const MagnitudeKernel kernel = FindMagnitude(node.op());
  if (kernel == nullptr) return InternalError(OpName(node.op()), " is not a contraction of floats");
  return CallKernel(kernel, node, inputs);
}

}  // namespace attune
