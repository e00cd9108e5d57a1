// Builds models for tests.
#ifndef ATTUNE_IMPORT_ONNX_TESTING_MODEL_BUILDER_H_
#define ATTUNE_IMPORT_ONNX_TESTING_MODEL_BUILDER_H_

#include <gtest/gtest.h>

#include <cctype>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graph/text.h"
#include "graph/verify.h"
#include "import/common/import_once_for_test.h"
#include "import/onnx/import.h"
#include "import/onnx/onnx.pb.h"
#include "reference/interpreter.h"

namespace attune::onnx {

using namespace attune_onnx;  // NOLINT: the schema's messages

inline AttributeProto* AddAttribute(NodeProto* node, const std::string& name,
                                    AttributeProto::AttributeType type) {
  AttributeProto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(type);
  return attribute;
}

// A model under construction; the graph's nodes are added one by one.
class Model {
 public:
  Model() {
    proto.set_ir_version(8);
    AddOpset("", 17);
    proto.mutable_graph()->set_name("test");
  }

  void AddOpset(const std::string& domain, int64_t version) {
    OperatorSetIdProto* opset = proto.add_opset_import();
    opset->set_domain(domain);
    opset->set_version(version);
  }

  // Each dimension is a number, or the name of a symbol.
  void AddInput(const std::string& name, const std::vector<std::string>& dims,
                int type = TensorProto::FLOAT) {
    ValueInfoProto* input = proto.mutable_graph()->add_input();
    input->set_name(name);
    input->mutable_type()->mutable_tensor_type()->set_elem_type(type);
    TensorShapeProto* shape = input->mutable_type()->mutable_tensor_type()->mutable_shape();
    for (const std::string& dim : dims) {
      if (std::isdigit(static_cast<unsigned char>(dim[0])) != 0) {
        shape->add_dim()->set_dim_value(std::stoll(dim));
      } else {
        shape->add_dim()->set_dim_param(dim);
      }
    }
  }

  void AddOutput(const std::string& name) { proto.mutable_graph()->add_output()->set_name(name); }

  NodeProto* AddNode(const std::string& op, const std::vector<std::string>& inputs,
                     const std::vector<std::string>& outputs) {
    return FillNode(proto.mutable_graph()->add_node(), op, inputs, outputs);
  }

  static NodeProto* FillNode(NodeProto* node, const std::string& op, const std::vector<std::string>& inputs,
                             const std::vector<std::string>& outputs) {
    node->set_op_type(op);
    for (const std::string& input : inputs) node->add_input(input);
    for (const std::string& output : outputs) node->add_output(output);
    return node;
  }

  TensorProto* AddInts(const std::string& name, const std::vector<int64_t>& values) {
    TensorProto* tensor = proto.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(TensorProto::INT64);
    tensor->add_dims(static_cast<int64_t>(values.size()));
    for (int64_t value : values) tensor->add_int64_data(value);
    return tensor;
  }

  absl::StatusOr<std::unique_ptr<Graph>> Import(OnnxImportOptions options = {},
                                                const std::string& folder = "") const {
    static const Interpreter interpreter;
    options.executor = &interpreter;
    auto graph = importing::ImportOnce(ParseOnnx(proto.SerializeAsString(), folder), options);
    if (graph.ok()) EXPECT_TRUE(Verify(**graph).ok()) << Verify(**graph) << Print(**graph);
    return graph;
  }

  std::string Error(OnnxImportOptions options = {}, const std::string& folder = "") const {
    return std::string(Import(std::move(options), folder).status().message());
  }

  ModelProto proto;
};

// A model with one node: x [2,3] → y.
inline Model OneNode(const std::string& op) {
  Model model;
  model.AddInput("x", {"2", "3"});
  model.AddNode(op, {"x"}, {"y"});
  model.AddOutput("y");
  return model;
}

}  // namespace attune::onnx

#endif  // ATTUNE_IMPORT_ONNX_TESTING_MODEL_BUILDER_H_
