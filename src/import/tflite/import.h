// TensorFlow Lite model files → Graph.
//
// Tensors keep the order of axes that the file has (NHWC); where an operator's canonical form has channels
// first, transposes stand around it. Every shape is concrete after import: what an operator takes as a tensor
// but must know (a target shape, paddings, axes) is computed at import from constants, from shapes, and from
// the inputs whose values are given. Variable tensors hold zeros: each run is the first.
//
// Quantized operators mean what TensorFlow Lite's reference kernels compute: products of integers and their
// requantization in fixed point exactly; what those kernels look up or approximate in fixed point is computed
// in floats and rounded half away from zero, which is at most a step away.
//
// A model file is hostile input: memory, recursion and work are bounded.
#ifndef ATTUNE_IMPORT_TFLITE_IMPORT_H_
#define ATTUNE_IMPORT_TFLITE_IMPORT_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "import/common/declared_tensor.h"
#include "import/common/import_options.h"

namespace attune {

// One way into the model: a subgraph, with the names that a signature gives its inputs and outputs.
struct TfliteEntryInfo {
  std::string signature;  // empty: the first subgraph under its tensors' names
  int subgraph = 0;
  std::vector<DeclaredTensor> inputs;
  std::vector<DeclaredTensor> outputs;
};

struct TfliteModelInfo {
  std::vector<TfliteEntryInfo> entries;  // the first subgraph, then one for each signature
  std::string description;
  int num_subgraphs = 0;
};

// What the file says of itself. Errors: unreadable, not a TensorFlow Lite model, damaged.
absl::StatusOr<TfliteModelInfo> ReadTfliteInfo(const std::string& path);

// Shapes that are given take the place of those that the model states; they are of the same rank.
struct TfliteImportOptions : ImportOptions {
  // Where no signature is named: which subgraph to import, under its tensors' names.
  int subgraph = 0;
};

// Whether the first bytes of a file (8 tell it) are those of a TensorFlow Lite model.
bool LooksLikeTflite(std::string_view head);

// The model as a verified-by-construction graph. Inputs and outputs have the names of the signature or,
// without one, of the tensors (one that has none, or shares it, "input0", "output1", …). Errors:
//   Unimplemented: everything that is not supported, one line each: "NS <OPERATOR> <output's name>:
//   <reason>". InvalidArgument, NotFound: damaged, inconsistent, or missing a shape; names the node or the
//   input.
absl::StatusOr<std::unique_ptr<Graph>> ImportTflite(const std::string& path,
                                                    const TfliteImportOptions& options);

// The same from memory.
absl::StatusOr<std::unique_ptr<Graph>> ImportTfliteBytes(std::string_view bytes,
                                                         const TfliteImportOptions& options);

}  // namespace attune

#endif  // ATTUNE_IMPORT_TFLITE_IMPORT_H_
