// Model files of any format → Graph. The format is recognized by the content, not by the name.
#ifndef ATTUNE_IMPORT_IMPORT_H_
#define ATTUNE_IMPORT_IMPORT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "import/common/declared_tensor.h"
#include "import/common/import_options.h"

namespace attune {

enum class ModelFormat { kOnnx, kTflite, kTensorflow, kPytorch };

// The format of a file, or of the folder of a SavedModel. A file without the mark of another format counts
// as ONNX, which has no mark. Errors: unreadable; a Keras file (the message says how to convert it).
absl::StatusOr<ModelFormat> FormatOf(const std::string& path);

// The file whose digest identifies the model: `path`, or the saved_model.pb of a SavedModel.
std::string MainFile(const std::string& path);

// The inputs that the model declares, for the signature that `options` name.
absl::StatusOr<std::vector<DeclaredTensor>> ReadModelInputs(const std::string& path,
                                                            const ImportOptions& options = {});

// The model as a verified-by-construction graph. Errors:
//   Unimplemented: everything that is not supported, one line each: "NS <operator> <node>: <reason>".
//   InvalidArgument, NotFound: damaged, inconsistent, or missing a shape; names the node or the input.
//   Cancelled: by options.control.
absl::StatusOr<std::unique_ptr<Graph>> ImportModel(const std::string& path, const ImportOptions& options);

}  // namespace attune

#endif  // ATTUNE_IMPORT_IMPORT_H_
