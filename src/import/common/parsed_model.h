// A model that has been read and parsed once, and is imported as often as there are shapes to import it at.
#ifndef ATTUNE_IMPORT_COMMON_PARSED_MODEL_H_
#define ATTUNE_IMPORT_COMMON_PARSED_MODEL_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "import/common/declared_tensor.h"
#include "import/common/import_options.h"

namespace attune {

// The declarations of a model.
struct DeclaredModel {
  std::vector<DeclaredTensor> inputs;
  // The rest is that of an ONNX model, and empty for others.
  std::vector<DeclaredTensor> outputs;
  // "producer_name", "producer_version", "domain", "description", "version", "graph_name" and
  // "graph_description"; those that the file leaves out are empty.
  std::map<std::string, std::string> about;
  std::map<std::string, std::string> metadata;  // what its author has added
};

// For one thread at a time. Errors do not name the model's file.
class ParsedModel {
 public:
  virtual ~ParsedModel() = default;

  // `signature` is as in ImportOptions.
  virtual absl::StatusOr<DeclaredModel> Declare(const std::string& signature) const = 0;

  // Returns the model as a verified-by-construction graph. Graphs of several calls share the bytes of their
  // weights, which are read from the file by the first call that needs them. Errors: as
  // ModelReader::Import().
  virtual absl::StatusOr<std::unique_ptr<Graph>> Import(const ImportOptions& options) = 0;

  // The files with weights that belong to the model, relative to its folder: sorted, each once. Fails if one
  // is missing or is outside of the folder.
  virtual absl::StatusOr<std::vector<std::string>> FilesBeside() const { return std::vector<std::string>(); }
};

}  // namespace attune

#endif  // ATTUNE_IMPORT_COMMON_PARSED_MODEL_H_
