// Builds models for tests.
#ifndef ATTUNE_IMPORT_TFLITE_TESTING_MODEL_BUILDER_H_
#define ATTUNE_IMPORT_TFLITE_TESTING_MODEL_BUILDER_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "flatbuffers/flatbuffers.h"
#include "import/tflite/tflite_generated.h"

namespace attune::tflite {

using Code = schema::BuiltinOperator;
using Type = schema::TensorType;

template <typename T>
std::vector<uint8_t> BytesOf(const std::vector<T>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

struct TensorSpec {
  std::string name;
  std::vector<int32_t> shape;
  Type type = Type::FLOAT32;
  std::vector<uint8_t> data = {};  // empty: not a constant
  std::vector<float> scales = {};
  std::vector<int64_t> zeros = {};
  int32_t axis = 0;
  bool variable = false;
  std::vector<int32_t> signature = {};  // the shape with -1 for open sizes; empty: all are as in `shape`
  // For a hostile file: the number of the buffer, and the stated location of its data after the tables.
  int64_t buffer = -1;
  uint64_t offset = 0;
  uint64_t size = 0;
};

// Tensors and operators are added to subgraphs one by one; Finish() writes the file.
class ModelBuilder {
 public:
  explicit ModelBuilder(int subgraphs = 1) : subgraphs_(subgraphs) {}

  flatbuffers::FlatBufferBuilder& builder() { return builder_; }

  int Add(TensorSpec tensor, int subgraph = 0) {
    subgraphs_[subgraph].tensors.push_back(std::move(tensor));
    return static_cast<int>(subgraphs_[subgraph].tensors.size()) - 1;
  }
  int AddInput(TensorSpec tensor, int subgraph = 0) {
    const int index = Add(std::move(tensor), subgraph);
    subgraphs_[subgraph].inputs.push_back(index);
    return index;
  }
  int AddInts(const std::string& name, const std::vector<int32_t>& values, int subgraph = 0) {
    return Add({.name = name,
                .shape = {static_cast<int32_t>(values.size())},
                .type = Type::INT32,
                .data = BytesOf(values)},
               subgraph);
  }
  void SetOutputs(std::vector<int32_t> outputs, int subgraph = 0) {
    subgraphs_[subgraph].outputs = std::move(outputs);
  }

  // An operator without options.
  void AddOp(Code code, std::vector<int32_t> inputs, std::vector<int32_t> outputs, int subgraph = 0) {
    AddNode({code, "", std::move(inputs), std::move(outputs)}, subgraph);
  }
  // An operator with options, which must have been written with builder().
  template <typename T>
  void AddOp(Code code, std::vector<int32_t> inputs, std::vector<int32_t> outputs,
             flatbuffers::Offset<T> options, int subgraph = 0) {
    Op op{code, "", std::move(inputs), std::move(outputs)};
    op.type = schema::BuiltinOptionsTraits<T>::enum_value;
    op.options = options.Union();
    AddNode(std::move(op), subgraph);
  }
  void AddCustom(const std::string& name, std::vector<int32_t> inputs, std::vector<int32_t> outputs,
                 std::vector<uint8_t> options = {}) {
    Op op{Code::CUSTOM, name, std::move(inputs), std::move(outputs)};
    op.custom_options = std::move(options);
    AddNode(std::move(op), 0);
  }
  void AddSignature(const std::string& key, int subgraph, const std::string& input,
                    const std::string& output) {
    const Subgraph& graph = subgraphs_[subgraph];
    const auto names = [&](const std::string& name, int32_t tensor) {
      return builder_.CreateVector(std::vector<flatbuffers::Offset<schema::TensorMap>>{
          schema::CreateTensorMapDirect(builder_, name.c_str(), static_cast<uint32_t>(tensor))});
    };
    const auto inputs = names(input, graph.inputs[0]);
    const auto outputs = names(output, graph.outputs[0]);
    signatures_.push_back(schema::CreateSignatureDef(builder_, inputs, outputs, builder_.CreateString(key),
                                                     static_cast<uint32_t>(subgraph)));
  }

  // A buffer with data about the model.
  void AddMetadata(const std::string& name, std::vector<uint8_t> bytes) {
    metadata_.emplace_back(name, std::move(bytes));
  }

  // The bytes of the file.
  std::string Finish() {
    std::vector<flatbuffers::Offset<schema::Buffer>> buffers = {schema::CreateBuffer(builder_)};
    std::vector<flatbuffers::Offset<schema::SubGraph>> subgraphs;
    for (const Subgraph& graph : subgraphs_) subgraphs.push_back(Write(graph, buffers));
    std::vector<flatbuffers::Offset<schema::Metadata>> metadata;
    for (const auto& [name, bytes] : metadata_) {
      metadata.push_back(
          schema::CreateMetadataDirect(builder_, name.c_str(), static_cast<uint32_t>(buffers.size())));
      buffers.push_back(schema::CreateBufferDirect(builder_, &bytes));
    }
    const auto root = schema::CreateModelDirect(builder_, 3, &codes_, &subgraphs, "test", &buffers, &metadata,
                                                &signatures_);
    schema::FinishModelBuffer(builder_, root);
    return std::string(reinterpret_cast<const char*>(builder_.GetBufferPointer()), builder_.GetSize());
  }

 private:
  struct Op {
    Code code;
    std::string custom_code;
    std::vector<int32_t> inputs;
    std::vector<int32_t> outputs;
    schema::BuiltinOptions type = schema::BuiltinOptions::NONE;
    flatbuffers::Offset<void> options = 0;
    std::vector<uint8_t> custom_options = {};
  };
  struct Subgraph {
    std::vector<TensorSpec> tensors = {};
    std::vector<int32_t> inputs = {};
    std::vector<int32_t> outputs = {};
    std::vector<Op> ops = {};
    std::vector<uint32_t> codes = {};
  };

  void AddNode(Op op, int subgraph) {
    const int8_t old = static_cast<int8_t>(std::min<int32_t>(static_cast<int32_t>(op.code), 127));
    const char* custom = op.custom_code.empty() ? nullptr : op.custom_code.c_str();
    subgraphs_[subgraph].codes.push_back(static_cast<uint32_t>(codes_.size()));
    codes_.push_back(schema::CreateOperatorCodeDirect(builder_, old, custom, 1, op.code));
    subgraphs_[subgraph].ops.push_back(std::move(op));
  }

  flatbuffers::Offset<schema::Tensor> Write(const TensorSpec& t,
                                            std::vector<flatbuffers::Offset<schema::Buffer>>& buffers) {
    uint32_t buffer = 0;
    if (!t.data.empty() || t.offset != 0) {
      buffer = static_cast<uint32_t>(buffers.size());
      buffers.push_back(
          schema::CreateBufferDirect(builder_, t.data.empty() ? nullptr : &t.data, t.offset, t.size));
    }
    if (t.buffer >= 0) buffer = static_cast<uint32_t>(t.buffer);
    flatbuffers::Offset<schema::QuantizationParameters> quantization = 0;
    if (!t.scales.empty()) {
      quantization = schema::CreateQuantizationParametersDirect(builder_, &t.scales, &t.zeros,
                                                                schema::QuantizationDetails::NONE, 0, t.axis);
    }
    return schema::CreateTensorDirect(builder_, &t.shape, t.type, buffer, t.name.c_str(), quantization,
                                      t.variable, 0, &t.signature);
  }

  flatbuffers::Offset<schema::SubGraph> Write(const Subgraph& graph,
                                              std::vector<flatbuffers::Offset<schema::Buffer>>& buffers) {
    std::vector<flatbuffers::Offset<schema::Tensor>> tensors;
    for (const TensorSpec& tensor : graph.tensors) tensors.push_back(Write(tensor, buffers));
    std::vector<flatbuffers::Offset<schema::Operator>> ops;
    for (size_t i = 0; i < graph.ops.size(); ++i) {
      const Op& op = graph.ops[i];
      ops.push_back(schema::CreateOperatorDirect(builder_, graph.codes[i], &op.inputs, &op.outputs, op.type,
                                                 op.options, &op.custom_options));
    }
    return schema::CreateSubGraphDirect(builder_, &tensors, &graph.inputs, &graph.outputs, &ops, "main");
  }

  flatbuffers::FlatBufferBuilder builder_;
  std::vector<Subgraph> subgraphs_;
  std::vector<flatbuffers::Offset<schema::OperatorCode>> codes_;
  std::vector<flatbuffers::Offset<schema::SignatureDef>> signatures_;
  std::vector<std::pair<std::string, std::vector<uint8_t>>> metadata_;
};

}  // namespace attune::tflite

#endif  // ATTUNE_IMPORT_TFLITE_TESTING_MODEL_BUILDER_H_
