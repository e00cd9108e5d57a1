// The interface for the functions that write an operator: the node, and the model being built.
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
  // The type of input i, which must be present, and of output i.
  const TensorType& type(int i = 0) const { return node_->input(i)->type(); }
  const TensorType& output_type(int i = 0) const { return node_->output(i)->type(); }

  // The name of input i; empty if it is absent.
  std::string In(int i) const;
  Names AllIn() const;
  Names AllOut() const;

  // Each adds an initializer and returns its name.
  std::string Constant(const Tensor& tensor);
  std::string IntVector(const Ints& values) { return Constant(Tensor::FromInts(values)); }
  std::string Scalar(DType dtype, const ExactNumber& value) { return Constant(Tensor::Scalar(dtype, value)); }

  // Input i converted to i64; some operators accept no other type.
  std::string LongIn(int i);

  // Adds an intermediate node with one output, and returns its name. An empty name stands for an absent
  // input.
  std::string Emit(std::string_view op_type, const Names& inputs, const Attributes& attributes = {});
  // Adds the node that computes the outputs of this node.
  attune_onnx::NodeProto* Finish(std::string_view op_type, const Names& inputs,
                                 const Attributes& attributes = {});

 private:
  attune_onnx::NodeProto* AddNode(std::string_view op_type, const Names& inputs, const Names& outputs,
                                  const Attributes& attributes);
  // The prefix of new names for this node.
  const std::string& Prefix() const { return writer_->NameOf(node_->output()); }

  GraphWriter* writer_;
  attune_onnx::GraphProto* proto_;
  const Node* node_;
};

}  // namespace attune::onnx_export

#endif  // ATTUNE_EXPORT_ONNX_NODE_CONTEXT_H_
