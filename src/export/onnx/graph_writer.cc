#include "export/onnx/graph_writer.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/fatal.h"
#include "base/status.h"
#include "export/onnx/messages.h"
#include "export/onnx/node_context.h"
#include "export/onnx/operators.h"

namespace attune::onnx_export {
namespace {

using attune_onnx::GraphProto;

// A name for a value without one: the name of its node, or its operator.
std::string_view Label(const Value& value) {
  if (!value.name().empty() || value.producer() == nullptr) return value.name();
  const Node& node = *value.producer();
  return node.name().empty() ? OpName(node.op()) : std::string_view(node.name());
}

bool Any(const Node& node, bool (*test)(const TensorType&)) {
  for (const Value* input : node.inputs()) {
    if (input != nullptr && test(input->type())) return true;
  }
  for (int i = 0; i < node.num_outputs(); ++i) {
    if (test(node.output(i)->type())) return true;
  }
  return false;
}

// Empty, or the reason why ONNX has no such node.
std::string WhyNot(const Node& node, const OperatorRow& row) {
  if (row.write == nullptr) return std::string(row.name);
  if (Any(node, [](const TensorType& type) { return !type.layout.is_plain(); })) {
    return "its layout is blocked, which a model file cannot say";
  }
  if (node.num_inputs() <= row.typed_input) return "";
  const DType dtype = node.input(row.typed_input)->type().dtype;
  if ((row.types & TypeBit(dtype)) != 0) return "";
  return absl::StrCat("ONNX has no ", row.name, " of ", DTypeName(dtype));
}

}  // namespace

absl::Status GraphWriter::WriteModel(const Graph& graph, GraphProto* proto) {
  proto->set_name(graph.name().empty() ? "graph" : graph.name());
  std::vector<std::string> outputs;
  RETURN_IF_ERROR(NameInputsAndOutputs(graph, proto, outputs));
  const std::vector<Copy> copies = NameResults(graph, outputs);
  WriteNodes(graph, proto);
  WriteCopies(copies, proto);
  for (size_t i = 0; i < outputs.size(); ++i) {
    SetValueInfo(outputs[i], graph.outputs()[i].value->type(), proto->add_output());
  }
  if (unsupported_.empty()) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrJoin(unsupported_, "\n"));
}

absl::Status GraphWriter::NameInputsAndOutputs(const Graph& graph, GraphProto* proto,
                                               std::vector<std::string>& outputs) {
  for (const auto& input : graph.inputs()) {
    const std::string& name = names_[input.get()] = NewName(input->name().empty() ? "input" : input->name());
    SetValueInfo(name, input->type(), proto->add_input());
  }
  for (const Graph::Output& output : graph.outputs()) {
    const auto named = names_.find(output.value);
    if (output.name.empty()) {
      outputs.push_back(NewName("output"));
    } else if (taken_.insert(output.name).second || (named != names_.end() && named->second == output.name)) {
      outputs.push_back(output.name);
    } else {
      return InvalidInput("two outputs, or an input and an output, are named \"", output.name,
                          "\"; a model file needs names that differ");
    }
  }
  return absl::OkStatus();
}

const std::string& GraphWriter::NameOf(const Value* value) const {
  const auto it = names_.find(value);
  if (it == names_.end()) Fatal("the value '", value->name(), "' is used before it is made");
  return it->second;
}

std::string GraphWriter::NewName(std::string_view wanted) {
  std::string name(wanted);
  for (int64_t number = 1; !taken_.insert(name).second; ++number) name = absl::StrCat(wanted, "_", number);
  return name;
}

std::vector<GraphWriter::Copy> GraphWriter::NameResults(const Graph& graph,
                                                        const std::vector<std::string>& wanted) {
  std::vector<Copy> copies;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Value* value = graph.outputs()[i].value;
    const auto named = names_.find(value);
    if (named == names_.end() && !value->is_input() && value->constant() == nullptr) {
      names_[value] = wanted[i];
    } else if (named == names_.end() || named->second != wanted[i]) {
      copies.push_back({value, wanted[i]});
    }
  }
  return copies;
}

void GraphWriter::WriteNodes(const Graph& graph, GraphProto* proto) {
  for (const auto& node : graph.nodes()) {
    if (node->num_outputs() == 0) continue;  // control flow with an unused result
    for (int i = 0; i < node->num_outputs(); ++i) {
      const Value* output = node->output(i);
      if (!names_.contains(output)) names_[output] = NewName(Label(*output));
    }
    if (const Tensor* constant = node->output()->constant()) {
      if (graph.NumUses(node->output()) == 0) continue;
      auto* tensor = proto->add_initializer();
      tensor->set_name(NameOf(node->output()));
      SetTensor(*constant, tensor);
    } else {
      WriteNode(*node, proto);
    }
  }
}

void GraphWriter::WriteNode(const Node& node, GraphProto* proto) {
  const OperatorRow& row = FindRow(node.op());
  std::string reason = WhyNot(node, row);
  if (reason.empty()) {
    NeedOpset(row.opset);
    // Since this opset, all operators that take floats take bf16.
    constexpr int64_t kBF16Opset = 22;
    if (Any(node, [](const TensorType& type) { return type.dtype == DType::kBF16; })) NeedOpset(kBF16Opset);
    NodeContext context(this, proto, &node);
    reason = row.write(context, row).message();
  }
  if (reason.empty()) return;
  unsupported_.push_back(
      absl::StrCat(kNotSupportedMark, OpName(node.op()), " ", NameOf(node.output()), ": ", reason));
}

void GraphWriter::WriteCopies(const std::vector<Copy>& copies, GraphProto* proto) {
  for (const Copy& copy : copies) {
    auto* node = proto->add_node();
    node->set_op_type("Identity");
    node->set_name(copy.to);
    node->add_input(NameOf(copy.from));
    node->add_output(copy.to);
  }
}

void GraphWriter::WriteRegion(const Graph& region, GraphProto* proto) {
  proto->set_name(NewName(region.name().empty() ? "region" : region.name()));
  std::vector<std::string> outputs;
  for (const Graph::Output& output : region.outputs()) {
    outputs.push_back(NewName(output.name.empty() ? "result" : output.name));
  }
  const std::vector<Copy> copies = NameResults(region, outputs);
  WriteNodes(region, proto);
  WriteCopies(copies, proto);
  for (size_t i = 0; i < outputs.size(); ++i) {
    SetValueInfo(outputs[i], region.outputs()[i].value->type(), proto->add_output());
  }
}

void GraphWriter::WriteCapturing(const Graph& region, const std::vector<std::string>& captured,
                                 GraphProto* proto) {
  for (size_t i = 0; i < captured.size(); ++i) names_[region.inputs()[i].get()] = captured[i];
  WriteRegion(region, proto);
}

void GraphWriter::WriteBody(const Graph& region, GraphProto* proto) {
  for (const auto& input : region.inputs()) {
    const std::string& name = names_[input.get()] = NewName(input->name().empty() ? "given" : input->name());
    SetValueInfo(name, input->type(), proto->add_input());
  }
  WriteRegion(region, proto);
}

void GraphWriter::WriteInline(const Graph& region, const std::vector<std::string>& inputs,
                              const std::vector<std::string>& outputs, GraphProto* proto) {
  for (size_t i = 0; i < inputs.size(); ++i) names_[region.inputs()[i].get()] = inputs[i];
  const std::vector<Copy> copies = NameResults(region, outputs);
  WriteNodes(region, proto);
  WriteCopies(copies, proto);
}

}  // namespace attune::onnx_export
