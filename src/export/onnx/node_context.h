// What the function that writes an operator sees: the node, and the model in the making.
#ifndef ATTUNE_EXPORT_ONNX_NODE_CONTEXT_H_
#define ATTUNE_EXPORT_ONNX_NODE_CONTEXT_H_

#include <string>
#include <string_view>
#include <vector>

#include "export/onnx/graph_writer.h"
#include "graph/graph.h"
#include "import/onnx/onnx.pb.h"

namespace attune::onnx_export {

using Names = std::vector<std::string>;

class NodeContext {
 public:
  NodeContext(GraphWriter* writer, attune_onnx::GraphProto* proto, const Node* node)
      : writer_(writer), proto_(proto), node_(node) {}

  GraphWriter& writer() const { return *writer_; }
  attune_onnx::GraphProto* proto() const { return proto_; }
  const Node& node() const { return *node_; }
  const Attributes& attrs() const { return node_->attrs(); }
  // The type of input i, which is there, and of output i.
  const TensorType& type(int i = 0) const { return node_->input(i)->type(); }
  const TensorType& output_type(int i = 0) const { return node_->output(i)->type(); }

  // The name of input i, empty where it is absent.
  std::string In(int i) const;
  Names AllIn() const;
  Names AllOut() const;

  // Initializers.
  std::string Constant(const Tensor& tensor);
  std::string IntVector(const Ints& values) { return Constant(Tensor::FromInts(values)); }
  std::string Scalar(DType dtype, double value) { return Constant(Tensor::Scalar(dtype, value)); }

  // Input i as i64, which some operators take alone.
  std::string LongIn(int i);

  // A node of one output that the function needs on the way. An empty input is absent.
  std::string Emit(std::string_view op_type, const Names& inputs, const Attributes& attributes = {});
  // The node that makes this node's outputs.
  attune_onnx::NodeProto* Finish(std::string_view op_type, const Names& inputs,
                                 const Attributes& attributes = {});

 private:
  attune_onnx::NodeProto* AddNode(std::string_view op_type, const Names& inputs, const Names& outputs,
                                  const Attributes& attributes);
  // The beginning of new names of this node.
  const std::string& Prefix() const { return writer_->NameOf(node_->output()); }

  GraphWriter* writer_;
  attune_onnx::GraphProto* proto_;
  const Node* node_;
};

}  // namespace attune::onnx_export

#endif  // ATTUNE_EXPORT_ONNX_NODE_CONTEXT_H_
