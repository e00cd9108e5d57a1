// ONNX model files → Graph.
//
// Opsets 7 to 26, of the default domain, ai.onnx.preview.training and model-local functions (inlined);
// older opsets if an operator's meaning did not change. Every shape is concrete after import: operands that
// are tensors but must be known (Reshape's shape, Pad's pads, …) are computed at import from constants,
// from shapes, and from the inputs whose values are given.
//
// A model file is hostile input: memory, recursion and work are bounded, and no file outside the model's
// folder is read.
#ifndef ATTUNE_IMPORT_ONNX_IMPORT_H_
#define ATTUNE_IMPORT_ONNX_IMPORT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "import/common/declared_tensor.h"
#include "import/common/import_options.h"

namespace attune {

struct OnnxModelInfo {
  std::vector<DeclaredTensor> inputs;  // without inputs that have an initializer
  std::vector<DeclaredTensor> outputs;
  std::map<std::string, int64_t> opsets;  // by domain; "" is the default domain
  int64_t ir_version = 0;
  // "producer_name", "producer_version", "domain", "description", "version", "graph_name" and
  // "graph_description"; those that the file leaves out are empty.
  std::map<std::string, std::string> about;
  std::map<std::string, std::string> metadata;  // what its author has added
};

// Information that the file states. Errors: unreadable, not an ONNX model.
absl::StatusOr<OnnxModelInfo> ReadOnnxInfo(const std::string& path);

// The files with external data that belong to the model, relative to its folder: sorted, each once. Errors:
// those of ReadOnnxInfo(), and a file that is not there or outside of the model's folder.
absl::StatusOr<std::vector<std::string>> ReadOnnxExternalFiles(const std::string& path);

using OnnxImportOptions = ImportOptions;

// The model as a verified-by-construction graph; input and output names are the model's. Errors:
//   Unimplemented: everything that is not supported, one line each: "NS <OpType> <node name>: <reason>".
//   InvalidArgument, NotFound: damaged, inconsistent, or missing a shape; names the node or the input.
absl::StatusOr<std::unique_ptr<Graph>> ImportOnnx(const std::string& path, const OnnxImportOptions& options);

// The same from memory. `folder` is the folder for external data; empty: external data is refused.
absl::StatusOr<std::unique_ptr<Graph>> ImportOnnxBytes(std::string_view bytes, const std::string& folder,
                                                       const OnnxImportOptions& options);

// A serialized TensorProto (the .pb files that accompany ONNX models). Integers with fewer than 8 bits
// become i8 or u8.
absl::StatusOr<Tensor> TensorFromOnnxProto(std::string_view bytes);

}  // namespace attune

#endif  // ATTUNE_IMPORT_ONNX_IMPORT_H_
