// TensorFlow Lite model files → Graph.
//
// Tensors keep the file's order of axes (NHWC); an operator whose canonical form has channels first is
// surrounded by transposes. Every shape is concrete after import: operands that are tensors but must be
// known (a target shape, paddings, axes) are computed at import from constants, from shapes, and from the
// inputs whose values are given. Variable tensors are zero: each run is a first run.
//
// Quantized operators compute what TensorFlow Lite's reference kernels do: products of integers and their
// requantization in fixed point are exact. Functions that those kernels look up in tables or approximate in
// fixed point are computed in floats and rounded half away from zero, so they differ by at most one step.
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

// An entry point of the model: a subgraph, with the names that a signature gives its inputs and outputs.
struct TfliteEntryInfo {
  std::string signature;  // empty: the first subgraph, with the names of its tensors
  int subgraph = 0;
  std::vector<DeclaredTensor> inputs;
  std::vector<DeclaredTensor> outputs;
};

struct TfliteModelInfo {
  std::vector<TfliteEntryInfo> entries;  // the first subgraph, then one for each signature
  std::string description;
  int num_subgraphs = 0;
};

// Information that the file states. Errors: unreadable, not a TensorFlow Lite model, damaged.
absl::StatusOr<TfliteModelInfo> ReadTfliteInfo(const std::string& path);

// Given shapes replace those in the model, and must have the same rank.
struct TfliteImportOptions : ImportOptions {
  // If no signature is named: the subgraph to import, with the names of its tensors.
  int subgraph = 0;
};

// Whether the first bytes of a file (8 are enough) are those of a TensorFlow Lite model.
bool LooksLikeTflite(std::string_view head);

// The model as a verified-by-construction graph. Inputs and outputs have the names of the signature or,
// without one, of the tensors ("input0", "output1", … for a tensor without a name, or with one that another
// has). Errors:
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
