// Builds models for tests.
#ifndef ATTUNE_IMPORT_TENSORFLOW_TESTING_MODEL_BUILDER_H_
#define ATTUNE_IMPORT_TENSORFLOW_TESTING_MODEL_BUILDER_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "graph/text.h"
#include "graph/verify.h"
#include "import/common/import_once_for_test.h"
#include "import/tensorflow/import.h"
#include "import/tensorflow/tensorflow.pb.h"
#include "reference/interpreter.h"

namespace attune::tensorflow {

using namespace attune_tensorflow;  // NOLINT: the schema's messages

// Sets a node's attributes, one after the other.
class NodeBuilder {
 public:
  explicit NodeBuilder(NodeDef* node) : node_(node) {}

  NodeBuilder& Int(const std::string& name, int64_t value) {
    (*node_->mutable_attr())[name].set_i(value);
    return *this;
  }
  NodeBuilder& Float(const std::string& name, float value) {
    (*node_->mutable_attr())[name].set_f(value);
    return *this;
  }
  NodeBuilder& Bool(const std::string& name, bool value) {
    (*node_->mutable_attr())[name].set_b(value);
    return *this;
  }
  NodeBuilder& String(const std::string& name, const std::string& value) {
    (*node_->mutable_attr())[name].set_s(value);
    return *this;
  }
  NodeBuilder& Ints(const std::string& name, const std::vector<int64_t>& values) {
    AttrValue& attribute = (*node_->mutable_attr())[name];
    for (int64_t value : values) attribute.mutable_list()->add_i(value);
    return *this;
  }
  NodeBuilder& Type(const std::string& name, DataType type) {
    (*node_->mutable_attr())[name].set_type(type);
    return *this;
  }
  // A negative dimension is open.
  NodeBuilder& Dims(const std::string& name, const std::vector<int64_t>& dims) {
    TensorShapeProto* shape = (*node_->mutable_attr())[name].mutable_shape();
    for (int64_t dim : dims) shape->add_dim()->set_size(dim);
    return *this;
  }
  NodeBuilder& Function(const std::string& name, const std::string& function) {
    (*node_->mutable_attr())[name].mutable_func()->set_name(function);
    return *this;
  }
  NodeDef* node() { return node_; }

 private:
  NodeDef* node_;
};

inline NodeBuilder FillNode(NodeDef* node, const std::string& op, const std::string& name,
                            const std::vector<std::string>& inputs) {
  node->set_op(op);
  node->set_name(name);
  for (const std::string& input : inputs) node->add_input(input);
  return NodeBuilder(node);
}

inline void FillConstant(NodeDef* node, const std::string& name, const std::vector<int64_t>& dims,
                         const std::vector<float>& values) {
  TensorProto* tensor = (*FillNode(node, "Const", name, {}).node()->mutable_attr())["value"].mutable_tensor();
  tensor->set_dtype(DT_FLOAT);
  tensor->mutable_tensor_shape();
  for (int64_t dim : dims) tensor->mutable_tensor_shape()->add_dim()->set_size(dim);
  for (float value : values) tensor->add_float_val(value);
}

// With rank 1, or rank 0 if `scalar`.
inline void FillIntegers(NodeDef* node, const std::string& name, const std::vector<int64_t>& values,
                         bool scalar = false) {
  TensorProto* tensor = (*FillNode(node, "Const", name, {}).node()->mutable_attr())["value"].mutable_tensor();
  tensor->set_dtype(DT_INT32);
  tensor->mutable_tensor_shape();
  if (!scalar) tensor->mutable_tensor_shape()->add_dim()->set_size(static_cast<int64_t>(values.size()));
  for (int64_t value : values) tensor->add_int_val(static_cast<int32_t>(value));
}

// A function whose nodes are added one by one.
class FunctionBuilder {
 public:
  FunctionBuilder(GraphDef& graph, const std::string& name, const std::vector<std::string>& arguments)
      : function_(graph.mutable_library()->add_function()) {
    function_->mutable_signature()->set_name(name);
    for (const std::string& argument : arguments)
      function_->mutable_signature()->add_input_arg()->set_name(argument);
  }

  NodeBuilder Add(const std::string& op, const std::string& name, const std::vector<std::string>& inputs) {
    return FillNode(function_->add_node_def(), op, name, inputs);
  }
  void Integer(const std::string& name, int64_t value) {
    FillIntegers(function_->add_node_def(), name, {value}, true);
  }
  NodeDef* AddNode() { return function_->add_node_def(); }
  // Adds a result, which is `tensor`.
  void Return(const std::string& tensor) {
    const std::string name = "result" + std::to_string(function_->signature().output_arg_size());
    function_->mutable_signature()->add_output_arg()->set_name(name);
    (*function_->mutable_ret())[name] = tensor;
  }

 private:
  FunctionDef* function_;
};

// A frozen graph.
class GraphBuilder {
 public:
  NodeBuilder Add(const std::string& op, const std::string& name, const std::vector<std::string>& inputs) {
    return FillNode(graph.add_node(), op, name, inputs);
  }
  void Placeholder(const std::string& name, const std::vector<int64_t>& dims, DataType type = DT_FLOAT) {
    Add("Placeholder", name, {}).Type("dtype", type).Dims("shape", dims);
    graph.mutable_versions()->set_producer(1000);
  }
  void Floats(const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& values) {
    FillConstant(graph.add_node(), name, dims, values);
  }
  void Integers(const std::string& name, const std::vector<int64_t>& values) {
    FillIntegers(graph.add_node(), name, values);
  }
  void Integer(const std::string& name, int64_t value) {
    FillIntegers(graph.add_node(), name, {value}, true);
  }

  absl::StatusOr<std::unique_ptr<Graph>> Import(ImportOptions options = {}) const {
    static const Interpreter interpreter;
    options.executor = &interpreter;
    auto imported = importing::ImportOnce(ParseTensorflow(graph.SerializeAsString(), ""), options);
    if (imported.ok()) EXPECT_TRUE(Verify(**imported).ok()) << Verify(**imported) << Print(**imported);
    return imported;
  }

  std::string Error(ImportOptions options = {}) const {
    return std::string(Import(std::move(options)).status().message());
  }

  // The first output's elements.
  std::vector<double> Run(const std::vector<Tensor>& inputs, ImportOptions options = {}) const {
    const auto imported = Import(std::move(options));
    EXPECT_TRUE(imported.ok()) << imported.status();
    if (!imported.ok()) return {};
    const auto outputs = Interpreter().Run(**imported, inputs);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    std::vector<double> values;
    if (!outputs.ok()) return values;
    for (int64_t i = 0; i < outputs->front().num_elements(); ++i)
      values.push_back(outputs->front().ToDouble(i));
    return values;
  }

  GraphDef graph;
};

inline ImportOptions WithShape(const std::string& name, Shape shape) {
  ImportOptions options;
  options.input_shapes[name] = std::move(shape);
  return options;
}

inline Tensor F32(Shape shape, const std::vector<float>& values) {
  return Tensor::FromFloats(values, std::move(shape));
}

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_TESTING_MODEL_BUILDER_H_
