// TensorFlow models → Graph.
//
// A frozen GraphDef (.pb), or a SavedModel: its folder, or the saved_model.pb in it. Functions are inlined,
// loops unrolled or kept as regions, variables become constants. Every shape is concrete after import: what
// an operator takes as a tensor but must know (Reshape's shape, the bounds of a slice, …) is computed at
// import from constants, from shapes, and from the inputs whose values are given. Only what the outputs need
// is looked at: what a model keeps for training and saving does not matter.
//
// Images stay as the model has them at inputs and outputs; inside, operators on channels-last data stand
// between transpositions, which the optimizer sinks and cancels.
//
// A model is hostile input: memory, recursion and work are bounded, and no file outside the model's folder
// is read.
#ifndef ATTUNE_IMPORT_TENSORFLOW_IMPORT_H_
#define ATTUNE_IMPORT_TENSORFLOW_IMPORT_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "import/common/declared_tensor.h"
#include "import/common/import_options.h"

namespace attune {

struct TensorflowModelInfo {
  // Types are "?" where the model does not state them.
  std::vector<DeclaredTensor> inputs;
  std::vector<DeclaredTensor> outputs;
  std::vector<std::string> signatures;  // of a SavedModel; inputs and outputs are those of the chosen one
  std::string producer;                 // the version of TensorFlow, where the model tells it
};

// The signature, where none is named, is serving_default, or the only one.
struct TensorflowImportOptions : ImportOptions {
  // The nodes of a frozen graph that are its outputs ("name" or "name:1"). Empty: the nodes that no other
  // node uses. A signature has outputs of its own.
  std::vector<std::string> outputs = {};
};

// Whether the first bytes of a file (32 tell it) look like a GraphDef's or a SavedModel's.
bool LooksLikeTensorflow(std::string_view head);

// Whether `path` is a folder that holds a SavedModel.
bool IsSavedModelFolder(const std::string& path);

// Unimplemented, with the way to convert it, where the first bytes of a file are those of a Keras model
// (.h5 or .keras), which is not a TensorFlow graph; else ok.
absl::Status CheckNotKeras(std::string_view head);

// What the model says of itself. Errors: unreadable, not a TensorFlow model, no such signature or output.
absl::StatusOr<TensorflowModelInfo> ReadTensorflowInfo(const std::string& path,
                                                       const TensorflowImportOptions& options = {});

// The model as a verified-by-construction graph. Inputs and outputs have the signature's names, those of a
// frozen graph its nodes'; a signature's are in alphabetical order, inputs of a frozen graph in the file's.
// Errors:
//   Unimplemented: everything that is not supported, one line each: "NS <Op> <node name>: <reason>".
//   InvalidArgument, NotFound: damaged, inconsistent, or missing a shape; names the node or the input.
absl::StatusOr<std::unique_ptr<Graph>> ImportTensorflow(const std::string& path,
                                                        const TensorflowImportOptions& options);

// The same from a GraphDef or SavedModel in memory. `folder` is a SavedModel's, where its variables lie;
// empty: they are refused.
absl::StatusOr<std::unique_ptr<Graph>> ImportTensorflowBytes(std::string_view bytes,
                                                             const std::string& folder,
                                                             const TensorflowImportOptions& options);

}  // namespace attune

#endif  // ATTUNE_IMPORT_TENSORFLOW_IMPORT_H_
