// Where a model's variables have their values.
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

  // The value of the variable that the graph's node `node` stands for. Reads the checkpoint's index when it
  // is first asked. Unimplemented where the model has no checkpoint, or for what a checkpoint may not be
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

// From the nodes of variables to their keys in the checkpoint, as the part of the graph that restores a
// checkpoint says: what RestoreV2 reads under a name is assigned to a variable, either in the graph itself or
// in a function that the variables are given to.
std::map<std::string, std::string> FindRestoredKeys(const GraphDef& graph, const Body& body);

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_VARIABLES_H_
