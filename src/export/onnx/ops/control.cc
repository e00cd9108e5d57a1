// Operators with regions.
#include "export/onnx/messages.h"
#include "export/onnx/ops/writers.h"

namespace attune::onnx_export {
namespace {

using attune_onnx::AttributeProto;
using attune_onnx::GraphProto;
using attune_onnx::NodeProto;

GraphProto* AddGraph(NodeProto* node, const char* name) {
  AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(AttributeProto::GRAPH);
  return attribute->mutable_g();
}

}  // namespace

// Branches capture the values that they use from the enclosing graph.
absl::Status WriteIf(NodeContext& c, const OperatorRow& row) {
  const Names inputs = c.AllIn();
  const Names captured(inputs.begin() + 1, inputs.end());
  NodeProto* node = c.Finish(row.name, {inputs[0]});
  c.writer().WriteCapturing(c.node().region(0), captured, AddGraph(node, "then_branch"));
  c.writer().WriteCapturing(c.node().region(1), captured, AddGraph(node, "else_branch"));
  return absl::OkStatus();
}

absl::Status WriteLoop(NodeContext& c, const OperatorRow& row) {
  NodeProto* node = c.Finish(row.name, c.AllIn());
  c.writer().WriteBody(c.node().region(), AddGraph(node, "body"));
  return absl::OkStatus();
}

absl::Status WriteFused(NodeContext& c, const OperatorRow& /*row*/) {
  c.writer().WriteInline(c.node().region(), c.AllIn(), c.AllOut(), c.proto());
  return absl::OkStatus();
}

}  // namespace attune::onnx_export
