// A model's file or an artifact, opened once for all that is asked of it.
#ifndef ATTUNE_API_OPENED_MODEL_H_
#define ATTUNE_API_OPENED_MODEL_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/compiled_model.h"
#include "api/tensors.h"
#include "base/progress.h"
#include "graph/graph.h"
#include "graph/picture_comments.h"
#include "graph/tensor.h"
#include "import/import.h"

namespace attune {

struct OpenOptions {
  // The signature to use of a TensorFlow or TensorFlow Lite model; empty: the one for inference.
  std::string signature;
  // How to load the file if it is an artifact. A model is compiled here and thus needs no trust; but it is
  // refused if the digest of an artifact is given.
  ArtifactOptions artifact;
};

// The inputs that a model is imported for.
struct InputOptions {
  // Shapes of inputs, by name. For an artifact, they select one of its sets of input shapes. -1, where the
  // network leaves sizes open: one that stays open.
  std::map<std::string, Shape> shapes;
  // Values of inputs. They define the shapes, and if a shape inside the network depends on a value, the
  // network is specialized for that value. The input may then disappear from the network.
  std::map<std::string, Tensor> values;
  // Whether sizes that neither shapes nor values decide stay open: the network is then one for all of them.
  // Otherwise they are an error.
  bool leaves_open = false;
  // Whether that is an error for a network of which plain loops alone would compute a product.
  bool open_must_be_fast = false;
  // How pictures become the values of inputs, where that is not what the model says. The network carries it
  // into its artifact.
  PictureFormats pictures;
  // Follows and cancels the import of a model.
  WorkControl control = {};
};

// The content of a model's file, without its graph.
struct ModelDeclaration {
  std::vector<InputDeclaration> inputs;
  // ONNX models and artifacts have them; sizes in which an artifact's sets of input shapes differ are open.
  std::vector<InputDeclaration> outputs;
  // As in DeclaredModel; an ONNX model has them.
  std::map<std::string, std::string> about, metadata;
};

// The names of the zoo's networks.
std::vector<std::string> ZooNames();

// Reads and parses a model's file when it is opened, and files with weights beside it when it is first
// imported; networks at other input shapes need no file, and share the weights. An artifact is loaded when it
// is first needed. For one thread at a time. Errors name the file.
class OpenedModel {
 public:
  // The format, or an artifact, is recognized by the content.
  static absl::StatusOr<OpenedModel> Open(const std::string& path, const OpenOptions& options = {});
  // The same for the bytes of a file. `name` stands for its path.
  static absl::StatusOr<OpenedModel> FromBytes(std::string bytes, const std::string& name);
  // One of the zoo's networks (zoo/zoo.h).
  static absl::StatusOr<OpenedModel> FromZoo(const std::string& name);

  const std::string& path() const { return path_; }
  bool is_artifact() const { return !reader_.has_value(); }
  // Ok for a model, and an error for an artifact, which has been compiled already.
  absl::Status CheckIsModel() const;
  // The format and the SHA-256 of a model's file.
  ModelFormat format() const { return reader_->format(); }
  const std::string& sha256() const { return reader_->sha256(); }

  // The inputs to give. A dimension that differs between an artifact's sets of input shapes is open.
  absl::StatusOr<std::vector<InputDeclaration>> Inputs();
  // Returns the declarations of a model or, at its first set of input shapes, of an artifact, which has
  // inputs alone.
  absl::StatusOr<ModelDeclaration> Declare();
  // The files that belong to a model besides its own, or besides what is in its folder if it has one:
  // relative to the folder of its path, sorted, each once. Fails if one is missing.
  absl::StatusOr<std::vector<std::string>> FilesBeside() const;

  // For a model whose inputs leave sizes open: fails with a list of the operators that Attune lacks, as an
  // import at any shapes would, but for TensorFlow, whose imports ask for shapes first. Ok for others.
  absl::Status CheckOperators();

  // The model's graph.
  absl::StatusOr<std::unique_ptr<Graph>> Import(const InputOptions& options);
  // The artifact's code.
  absl::StatusOr<std::shared_ptr<const CompiledModel>> Artifact();

 private:
  OpenedModel(std::string path, OpenOptions options, std::optional<ModelReader> reader)
      : path_(std::move(path)), options_(std::move(options)), reader_(std::move(reader)) {}

  std::string path_;
  OpenOptions options_;
  std::optional<ModelReader> reader_;              // not set for an artifact
  std::shared_ptr<const CompiledModel> artifact_;  // null before it is needed
};

}  // namespace attune

#endif  // ATTUNE_API_OPENED_MODEL_H_
