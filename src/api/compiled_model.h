// A compiled network ready to run: the runtime's C interface with absl's errors and Attune's tensors.
#ifndef ATTUNE_API_COMPILED_MODEL_H_
#define ATTUNE_API_COMPILED_MODEL_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "api/tensors.h"
#include "attune/attune.h"

namespace attune {

// Whether the file at `path` can be read and begins as an artifact does.
bool IsArtifact(const std::string& path);

// How an artifact's file is loaded.
struct ArtifactOptions {
  // Digests as sha256sum prints them. What the file must have, and a list of which it must have one:
  // anything, where empty or not given. The bytes that are hashed are the ones that run.
  std::string sha256;
  std::optional<std::vector<std::string>> trusted;
  // Load it, for whichever processor it is, to ask what it is; it cannot be run.
  bool describe_only = false;
};

// At one set of input shapes. Immutable; any number of threads may use it.
class CompiledModel {
 public:
  // Errors say what is wrong with the artifact, and name `path`.
  static absl::StatusOr<std::shared_ptr<const CompiledModel>> LoadFile(const std::string& path,
                                                                       const ArtifactOptions& options = {});
  // `bytes` are those of an artifact's file; they are copied.
  static absl::StatusOr<std::shared_ptr<const CompiledModel>> FromBytes(std::string_view bytes);

  std::vector<InputDeclaration> Inputs() const;
  std::vector<std::string> OutputNames() const;
  // The model at each set of input shapes that the artifact has; they share its code and weights. What is
  // loaded is at the first.
  std::vector<std::shared_ptr<const CompiledModel>> ShapeSets() const;
  // The first of these whose inputs have the shapes, by name; the error lists the sets.
  absl::StatusOr<std::shared_ptr<const CompiledModel>> ForShapes(
      const std::map<std::string, Shape>& shapes) const;
  // The runtime's handle, owned by this.
  const attune_model* handle() const { return handle_.get(); }

 private:
  explicit CompiledModel(std::shared_ptr<const attune_model> handle) : handle_(std::move(handle)) {}
  // Takes over what was loaded.
  static std::shared_ptr<const CompiledModel> Own(attune_model* model);

  std::shared_ptr<const attune_model> handle_;
};

// Memory and threads for running a model. For one thread at a time.
class Session {
 public:
  // On up to `threads` threads; 0: as many as processors.
  static absl::StatusOr<Session> Create(std::shared_ptr<const CompiledModel> model, int threads);

  // Copies the values of all inputs, in any order. Errors name an input that is missing, unknown, given
  // twice, or of another dtype or shape.
  absl::Status SetInputs(const std::vector<NamedTensor>& inputs);
  absl::Status Run();
  // The same; the nanoseconds that each instruction took.
  absl::StatusOr<std::vector<uint64_t>> RunProfiled();
  // Copies of the last run's outputs, in the model's order, dynamic dimensions of their actual size.
  absl::StatusOr<std::vector<NamedTensor>> Outputs() const;

  const CompiledModel& model() const { return *model_; }

 private:
  struct Free {
    void operator()(attune_session* session) const { attune_session_free(session); }
  };
  Session(std::shared_ptr<const CompiledModel> model, attune_session* session)
      : model_(std::move(model)), handle_(session) {}

  std::shared_ptr<const CompiledModel> model_;
  std::unique_ptr<attune_session, Free> handle_;
};

}  // namespace attune

#endif  // ATTUNE_API_COMPILED_MODEL_H_
