// Writes a graph and its regions as a model's graph: names, initializers, nodes, one after the other.
#ifndef ATTUNE_EXPORT_ONNX_GRAPH_WRITER_H_
#define ATTUNE_EXPORT_ONNX_GRAPH_WRITER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "absl/status/status.h"
#include "graph/graph.h"
#include "import/onnx/onnx.pb.h"

namespace attune::onnx_export {

// The opset that every model asks for at least: since then all reductions take their axes as an input.
inline constexpr int64_t kLeastOpset = 18;

// For one model. Names are unique in the whole model, so that a subgraph never hides what it captures.
class GraphWriter {
 public:
  // As of ExportOnnxBytes(); afterwards opset() is what the model needs.
  absl::Status WriteModel(const Graph& graph, attune_onnx::GraphProto* proto);
  int64_t opset() const { return opset_; }

  // ---- For what writes a node.

  void NeedOpset(int64_t opset) { opset_ = opset > opset_ ? opset : opset_; }
  const std::string& NameOf(const Value* value) const;
  // `wanted`, or where it is taken, with a number.
  std::string NewName(std::string_view wanted);
  // A subgraph whose inputs are the model's own: values in the enclosing graph, by name.
  void WriteCapturing(const Graph& region, const std::vector<std::string>& captured,
                      attune_onnx::GraphProto* proto);
  // A subgraph with inputs of its own.
  void WriteBody(const Graph& region, attune_onnx::GraphProto* proto);
  // The region's nodes in `proto` itself, which make values of the names `outputs`.
  void WriteInline(const Graph& region, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs, attune_onnx::GraphProto* proto);

 private:
  // Names the results of `graph`, where a node of it makes one, `wanted`; the others are to be copied.
  struct Copy {
    const Value* from;
    std::string to;
  };
  std::vector<Copy> NameResults(const Graph& graph, const std::vector<std::string>& wanted);
  absl::Status NameInputsAndOutputs(const Graph& graph, attune_onnx::GraphProto* proto,
                                    std::vector<std::string>& outputs);
  void WriteNodes(const Graph& graph, attune_onnx::GraphProto* proto);
  void WriteNode(const Node& node, attune_onnx::GraphProto* proto);
  void WriteCopies(const std::vector<Copy>& copies, attune_onnx::GraphProto* proto);
  // All of a subgraph but its inputs.
  void WriteRegion(const Graph& region, attune_onnx::GraphProto* proto);

  std::unordered_set<std::string> taken_;
  std::unordered_map<const Value*, std::string> names_;
  std::vector<std::string> unsupported_;  // one line each
  int64_t opset_ = kLeastOpset;
};

}  // namespace attune::onnx_export

#endif  // ATTUNE_EXPORT_ONNX_GRAPH_WRITER_H_
