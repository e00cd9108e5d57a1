// Finds and reads the values of a model's variables.
#ifndef ATTUNE_IMPORT_TENSORFLOW_VARIABLES_H_
#define ATTUNE_IMPORT_TENSORFLOW_VARIABLES_H_

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "import/tensorflow/bundle.h"
#include "import/tensorflow/model.h"

namespace attune::tensorflow {

class Variables {
 public:
  explicit Variables(const Model& model) : model_(model) {}

  // The value of the variable that the graph's node `node` represents. The first call reads the
  // checkpoint's index. Unimplemented if the model has no checkpoint, or if the checkpoint is not supported
  // (bundle.h).
  absl::StatusOr<Tensor> Read(const NodeDef& node);

 private:
  absl::Status Open();
  absl::StatusOr<std::string> KeyOf(const NodeDef& node) const;

  const Model& model_;
  std::optional<Bundle> bundle_;
  std::map<std::string, std::string> restored_keys_;  // by node
  std::map<std::string, Tensor> tensors_;             // by key
};

// Maps the nodes of variables to their keys in the checkpoint, according to the part of the graph that
// restores a checkpoint: the tensor that RestoreV2 reads under a name is assigned to a variable, either in
// the graph itself or in a function with the variables as arguments.
std::map<std::string, std::string> FindRestoredKeys(const GraphDef& graph, const Body& body);

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_VARIABLES_H_
