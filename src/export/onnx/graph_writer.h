// Writes a graph and its regions as the graph of a model: names, initializers, nodes, one after the other.
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

// The lowest opset that a model requires: since then, all reductions take their axes as an input.
inline constexpr int64_t kLeastOpset = 18;

// Writes one model. Names are unique in the whole model, so that a subgraph never hides a captured value.
class GraphWriter {
 public:
  // The errors are those of ExportOnnxBytes(); afterwards, opset() is the opset that the model requires.
  absl::Status WriteModel(const Graph& graph, attune_onnx::GraphProto* proto);
  int64_t opset() const { return opset_; }

  // ---- For the functions that write nodes.

  void NeedOpset(int64_t opset) { opset_ = opset > opset_ ? opset : opset_; }
  const std::string& NameOf(const Value* value) const;
  // Returns `wanted`, with a number appended if the name is taken.
  std::string NewName(std::string_view wanted);
  // Writes a subgraph without inputs: in place of the region's inputs, it uses the values of the enclosing
  // graph with the names `captured`.
  void WriteCapturing(const Graph& region, const std::vector<std::string>& captured,
                      attune_onnx::GraphProto* proto);
  // Writes a subgraph with its own inputs.
  void WriteBody(const Graph& region, attune_onnx::GraphProto* proto);
  // Writes the region's nodes into `proto` itself; their results get the names `outputs`.
  void WriteInline(const Graph& region, const std::vector<std::string>& inputs,
                   const std::vector<std::string>& outputs, attune_onnx::GraphProto* proto);

 private:
  // Gives each result of `graph` that one of its nodes computes its `wanted` name; returns the copies that
  // are needed for the others.
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
  // Writes everything of a subgraph except its inputs.
  void WriteRegion(const Graph& region, attune_onnx::GraphProto* proto);

  std::unordered_set<std::string> taken_;
  std::unordered_map<const Value*, std::string> names_;
  std::vector<std::string> unsupported_;  // one line each
  int64_t opset_ = kLeastOpset;
};

}  // namespace attune::onnx_export

#endif  // ATTUNE_EXPORT_ONNX_GRAPH_WRITER_H_
