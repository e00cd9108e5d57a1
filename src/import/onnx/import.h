// ONNX model files → Graph.
//
// Opsets 7 to 26, of the default domain, ai.onnx.preview.training and model-local functions (inlined);
// older opsets where an operator's meaning did not change. Every shape is concrete after import: what an
// operator takes as a tensor but must know (Reshape's shape, Pad's pads, …) is computed at import from
// constants, from shapes, and from the inputs whose values are given.
//
// A model file is hostile input: memory, recursion and work are bounded, and no file outside the
// model's folder is read.
#ifndef ATTUNE_IMPORT_ONNX_IMPORT_H_
#define ATTUNE_IMPORT_ONNX_IMPORT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/executor.h"
#include "graph/graph.h"

namespace attune {

struct OnnxInputInfo {
  std::string name;
  // "f32", …, or ONNX's own name ("string", "sequence(…)") of a type that Attune does not have.
  std::string dtype;
  // One a dimension: a number, a symbol's name, or "?". `ranked` is false where the model states no shape.
  std::vector<std::string> dims;
  bool ranked = true;
};

struct OnnxModelInfo {
  std::vector<OnnxInputInfo> inputs;  // without those that an initializer gives
  std::vector<OnnxInputInfo> outputs;
  std::map<std::string, int64_t> opsets;  // by domain, "" the default one
  int64_t ir_version = 0;
  std::string producer;
};

// What the file says of itself. Errors: unreadable, not an ONNX model.
absl::StatusOr<OnnxModelInfo> ReadOnnxInfo(const std::string& path);

struct OnnxImportOptions {
  // Whole shapes of inputs whose dimensions the model leaves open. A symbol that one input binds is bound
  // for all.
  std::map<std::string, Shape> input_shapes = {};
  // Values of inputs, used only where a shape or another static argument depends on them. Such an input
  // leaves the graph unless other nodes use it as data. Their shapes bind as input_shapes do.
  std::map<std::string, Tensor> input_values = {};
  // Computes what must be known at import; the reference interpreter in practice. Not owned. Without one,
  // everything that must be computed is reported as not supported.
  const Executor* executor = nullptr;
};

// The model as a verified-by-construction graph; input and output names are the model's. Errors:
//   Unimplemented: everything that is not supported, one line each: "NS <OpType> <node name>: <reason>".
//   InvalidArgument, NotFound: damaged, inconsistent, or missing a shape; names the node or the input.
absl::StatusOr<std::unique_ptr<Graph>> ImportOnnx(const std::string& path, const OnnxImportOptions& options);

// The same from memory. `folder` is where external data may lie; empty: external data is refused.
absl::StatusOr<std::unique_ptr<Graph>> ImportOnnxBytes(std::string_view bytes, const std::string& folder,
                                                       const OnnxImportOptions& options);

// A serialized TensorProto (the .pb files that accompany ONNX models). Integers of under 8 bits come as
// i8 or u8.
absl::StatusOr<Tensor> TensorFromOnnxProto(std::string_view bytes);

}  // namespace attune

#endif  // ATTUNE_IMPORT_ONNX_IMPORT_H_
