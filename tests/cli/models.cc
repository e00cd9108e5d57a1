#include "models.h"

#include <algorithm>
#include <cstdint>

#include "import/onnx/onnx.pb.h"

namespace attune {
namespace {

using attune_onnx::GraphProto;
using attune_onnx::ModelProto;
using attune_onnx::NodeProto;
using attune_onnx::TensorProto;
using attune_onnx::ValueInfoProto;

void AddValue(ValueInfoProto* value, const std::string& name, const std::vector<std::string>& dims,
              TensorProto::DataType type_of_elements = TensorProto::FLOAT) {
  value->set_name(name);
  auto* type = value->mutable_type()->mutable_tensor_type();
  type->set_elem_type(type_of_elements);
  type->mutable_shape();
  for (const std::string& dim : dims) {
    auto* added = type->mutable_shape()->add_dim();
    if (std::all_of(dim.begin(), dim.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      added->set_dim_value(std::stoll(dim));
    } else {
      added->set_dim_param(dim);
    }
  }
}

void AddConstant(GraphProto* graph, const std::string& name, const std::vector<int64_t>& shape,
                 const std::vector<float>& values) {
  TensorProto* constant = graph->add_initializer();
  constant->set_name(name);
  constant->set_data_type(TensorProto::FLOAT);
  for (int64_t size : shape) constant->add_dims(size);
  for (float value : values) constant->add_float_data(value);
}

NodeProto* AddNode(GraphProto* graph, const std::string& type, const std::vector<std::string>& inputs,
                   const std::string& output) {
  NodeProto* node = graph->add_node();
  node->set_op_type(type);
  node->set_name("node_" + output);
  for (const std::string& input : inputs) node->add_input(input);
  node->add_output(output);
  return node;
}

// A convolution with a window of `kernel`², padded so that the size stays; the weights are small and
// differ.
void AddConvolution(GraphProto* graph, const std::string& input, int64_t in_channels, int64_t out_channels,
                    int64_t kernel, const std::string& output) {
  std::vector<float> weights(static_cast<size_t>(out_channels * in_channels * kernel * kernel));
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = 0.01f * static_cast<float>(i % 17) - 0.08f;
  AddConstant(graph, output + "_weights", {out_channels, in_channels, kernel, kernel}, weights);
  auto* pads = AddNode(graph, "Conv", {input, output + "_weights"}, output)->add_attribute();
  pads->set_name("pads");
  pads->set_type(attune_onnx::AttributeProto::INTS);
  for (int i = 0; i < 4; ++i) pads->add_ints(kernel / 2);
}

ModelProto NewModel() {
  ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  model.mutable_graph()->set_name("test");
  return model;
}

}  // namespace

std::string ScoresModel(const std::vector<std::string>& dims) {
  ModelProto model = NewModel();
  GraphProto* graph = model.mutable_graph();
  AddValue(graph->add_input(), "x", dims);
  AddValue(graph->add_output(), "scores", dims);
  AddConstant(graph, "bias", {4}, {0.5f, 1.0f, 1.5f, 2.0f});
  AddNode(graph, "Add", {"x", "bias"}, "sum");
  AddNode(graph, "Relu", {"sum"}, "scores");
  return model.SerializeAsString();
}

std::string ChainModel(const std::vector<std::string>& types, const std::string& output) {
  ModelProto model = NewModel();
  GraphProto* graph = model.mutable_graph();
  AddValue(graph->add_input(), "x", {"1", "4"});
  std::string last = "x";
  for (size_t i = 0; i < types.size(); ++i) {
    const bool named = i + 1 == types.size() && !output.empty();
    const std::string next = named ? output : "v" + std::to_string(i);
    AddNode(graph, types[i], {last}, next);
    last = next;
  }
  AddValue(graph->add_output(), last, {"1", "4"});
  return model.SerializeAsString();
}

std::string EmbeddingModel() {
  ModelProto model = NewModel();
  GraphProto* graph = model.mutable_graph();
  AddValue(graph->add_input(), "ids", {"1", "3"}, TensorProto::INT64);
  AddValue(graph->add_output(), "rows", {"1", "3", "2"});
  AddConstant(graph, "words", {4, 2}, {0, 1, 10, 11, 20, 21, 30, 31});
  AddNode(graph, "Gather", {"words", "ids"}, "rows");
  return model.SerializeAsString();
}

std::string ProductsModel() {
  ModelProto model = NewModel();
  GraphProto* graph = model.mutable_graph();
  AddValue(graph->add_input(), "x", {"1", "4"});
  for (const std::string& output : {"sum", "difference"}) AddValue(graph->add_output(), output, {"1", "1"});
  AddConstant(graph, "w", {4, 1}, {1, 2, 3, 4});
  AddConstant(graph, "v", {4, 1}, {2.003f, 1, 0, 0});
  AddNode(graph, "MatMul", {"x", "w"}, "sum");
  AddNode(graph, "MatMul", {"x", "v"}, "difference");
  return model.SerializeAsString();
}

std::string SlowProductModel() {
  ModelProto model = NewModel();
  GraphProto* graph = model.mutable_graph();
  AddValue(graph->add_input(), "x", {"1", "4"});
  AddValue(graph->add_input(), "n", {"1", "4"}, TensorProto::INT64);
  AddValue(graph->add_output(), "sum", {"1", "1"});
  AddValue(graph->add_output(), "long", {"1", "3"}, TensorProto::INT64);
  AddConstant(graph, "w", {4, 1}, {1, 2, 3, 4});
  TensorProto* longs = graph->add_initializer();
  longs->set_name("v");
  longs->set_data_type(TensorProto::INT64);
  for (int64_t size : {4, 3}) longs->add_dims(size);
  for (int64_t i = 0; i < 12; ++i) longs->add_int64_data(i);
  AddNode(graph, "MatMul", {"x", "w"}, "sum");
  AddNode(graph, "MatMul", {"n", "v"}, "long");
  return model.SerializeAsString();
}

std::string ConvolutionsModel(int64_t channels) {
  ModelProto model = NewModel();
  GraphProto* graph = model.mutable_graph();
  AddValue(graph->add_input(), "x", {"1", std::to_string(channels), "14", "14"});
  AddValue(graph->add_output(), "y", {"1", "32", "14", "14"});
  AddConvolution(graph, "x", channels, 16, 3, "first");
  AddNode(graph, "Relu", {"first"}, "positive");
  AddConvolution(graph, "positive", 16, 32, 1, "y");
  return model.SerializeAsString();
}

std::string ClusteredModel() {
  ModelProto model = NewModel();
  GraphProto* graph = model.mutable_graph();
  AddValue(graph->add_input(), "x", {"1", "16", "14", "14"});
  AddValue(graph->add_output(), "y", {"1", "32", "14", "14"});
  AddConvolution(graph, "x", 16, 32, 1, "y");
  return model.SerializeAsString();
}

std::string CyclicModel() {
  ModelProto model = NewModel();
  GraphProto* graph = model.mutable_graph();
  AddValue(graph->add_output(), "a", {"1"});
  AddNode(graph, "Relu", {"b"}, "a");
  AddNode(graph, "Relu", {"a"}, "b");
  return model.SerializeAsString();
}

}  // namespace attune
