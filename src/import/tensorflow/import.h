// TensorFlow models → Graph.
//
// A frozen GraphDef (.pb), or a SavedModel: its folder, or the saved_model.pb in it. Functions are inlined,
// loops unrolled or kept as regions, variables become constants. Every shape is concrete after import:
// operands that are tensors but must be known (Reshape's shape, the bounds of a slice, …) are computed at
// import from constants, from shapes, and from the inputs whose values are given. Only nodes that the
// outputs need are imported: those for training and saving are ignored.
//
// Images at inputs and outputs keep the model's layout; inside, operators on channels-last data are
// surrounded by transpositions, which the optimizer sinks and cancels.
//
// A model is hostile input: memory, recursion and work are bounded, and no file outside the model's folder
// is read.
#ifndef ATTUNE_IMPORT_TENSORFLOW_IMPORT_H_
#define ATTUNE_IMPORT_TENSORFLOW_IMPORT_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "import/common/parsed_model.h"

namespace attune {

// Whether the first bytes of a file (32 are enough) look like a GraphDef or a SavedModel.
bool LooksLikeTensorflow(std::string_view head);

// Whether `path` is a folder with a SavedModel.
bool IsSavedModelFolder(const std::string& path);

// If the first bytes of a file are those of a Keras model (.h5 or .keras), which is not a TensorFlow graph:
// Unimplemented, with advice how to convert it. Otherwise ok.
absl::Status CheckNotKeras(std::string_view head);

// Parses the bytes of a GraphDef or SavedModel. `folder` is the SavedModel's, which has its variables; empty:
// variables are refused. If no signature is named, it is serving_default, or the only one; the outputs of a
// frozen graph are the nodes that no other node uses. Inputs and outputs have the names of the signature, in
// alphabetical order, or of the nodes of a frozen graph, with inputs in the order of the file.
absl::StatusOr<std::unique_ptr<ParsedModel>> ParseTensorflow(std::string_view bytes,
                                                             const std::string& folder);

}  // namespace attune

#endif  // ATTUNE_IMPORT_TENSORFLOW_IMPORT_H_
