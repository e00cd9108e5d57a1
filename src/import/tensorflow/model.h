// A model as in its file: the graph, its inputs and outputs, and the location of its variables.
#ifndef ATTUNE_IMPORT_TENSORFLOW_MODEL_H_
#define ATTUNE_IMPORT_TENSORFLOW_MODEL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "import/tensorflow/body.h"
#include "import/tensorflow/import.h"

namespace attune::tensorflow {

// An input or an output of the model.
struct Endpoint {
  std::string name;                         // for the user
  std::string tensor;                       // "node" or "node:1" in the graph
  int type = DT_INVALID;                    // a DataType; DT_INVALID if the model does not state it
  const TensorShapeProto* shape = nullptr;  // nullptr if the model does not state it
};

DeclaredTensor Describe(const Endpoint& endpoint);

struct Endpoints {
  std::vector<Endpoint> inputs, outputs;
};

class Model {
 public:
  // `folder` is that of a SavedModel; empty if there is none.
  static absl::StatusOr<std::unique_ptr<Model>> Parse(std::string_view bytes, const std::string& folder);
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const GraphDef& graph() const { return *graph_; }
  const Body& body() const { return *body_; }
  // The inputs and outputs of the signature, or of a frozen graph, whose outputs are the nodes that no other
  // node uses.
  absl::StatusOr<Endpoints> EndpointsFor(const std::string& signature) const;
  // The prefix of the checkpoint's files; empty if the model has none.
  std::string checkpoint_prefix() const;
  // Size of the whole model file.
  int64_t num_bytes() const { return num_bytes_; }

 private:
  Model() = default;
  absl::Status ParseBytes(std::string_view bytes);
  absl::StatusOr<Endpoints> EndpointsOfSignature(const std::string& wanted) const;
  absl::StatusOr<Endpoints> EndpointsOfFrozen() const;
  std::vector<std::string> UnusedNodes() const;

  SavedModel saved_model_;
  GraphDef frozen_;
  const MetaGraphDef* meta_graph_ = nullptr;  // nullptr: a frozen graph
  const GraphDef* graph_ = nullptr;
  std::unique_ptr<Body> body_;
  std::string folder_;
  int64_t num_bytes_ = 0;
};

}  // namespace attune::tensorflow

#endif  // ATTUNE_IMPORT_TENSORFLOW_MODEL_H_
