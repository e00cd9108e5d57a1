#include "export/onnx/node_context.h"

#include "absl/strings/str_cat.h"
#include "export/onnx/messages.h"

namespace attune::onnx_export {

using attune_onnx::NodeProto;

std::string NodeContext::In(int i) const {
  const Value* input = node_->input(i);
  return input == nullptr ? "" : writer_->NameOf(input);
}

Names NodeContext::AllIn() const {
  Names names;
  for (int i = 0; i < node_->num_inputs(); ++i) names.push_back(In(i));
  return names;
}

Names NodeContext::AllOut() const {
  Names names;
  for (int i = 0; i < node_->num_outputs(); ++i) names.push_back(writer_->NameOf(node_->output(i)));
  return names;
}

std::string NodeContext::Constant(const Tensor& tensor) {
  auto* proto = proto_->add_initializer();
  proto->set_name(writer_->NewName(absl::StrCat(Prefix(), "_constant")));
  SetTensor(tensor, proto);
  return proto->name();
}

std::string NodeContext::LongIn(int i) {
  if (type(i).dtype == DType::kI64) return In(i);
  return Emit("Cast", {In(i)}, {{"to", DType::kI64}});
}

std::string NodeContext::Emit(std::string_view op_type, const Names& inputs, const Attributes& attributes) {
  std::string output = writer_->NewName(absl::StrCat(Prefix(), "_", op_type));
  AddNode(op_type, inputs, {output}, attributes);
  return output;
}

NodeProto* NodeContext::Finish(std::string_view op_type, const Names& inputs, const Attributes& attributes) {
  return AddNode(op_type, inputs, AllOut(), attributes);
}

NodeProto* NodeContext::AddNode(std::string_view op_type, const Names& inputs, const Names& outputs,
                                const Attributes& attributes) {
  NodeProto* node = proto_->add_node();
  node->set_op_type(std::string(op_type));
  node->set_name(outputs[0]);
  size_t count = inputs.size();
  while (count > 0 && inputs[count - 1].empty()) --count;
  for (size_t i = 0; i < count; ++i) node->add_input(inputs[i]);
  for (const std::string& output : outputs) node->add_output(output);
  for (const auto& [name, value] : attributes) SetAttribute(name, value, node->add_attribute());
  return node;
}

}  // namespace attune::onnx_export
