// A compiled network that is ready to run: wraps the runtime's C interface with absl's errors and Attune's
// tensors.
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

// How to load an artifact's file.
struct ArtifactOptions {
  // SHA-256 digests as sha256sum prints them: the digest that the file must have, and a list of digests of
  // which it must have one; empty or not set: any file is accepted. The hashed bytes are the ones that run.
  std::string sha256;
  std::optional<std::vector<std::string>> trusted;
  // Public keys of Ed25519 as 64 hexadecimal digits: one of them must have signed the file. Not set: any
  // file.
  std::optional<std::vector<std::string>> trusted_keys = {};
  // Loads the artifact for any processor, only to describe it; it cannot be run.
  bool describe_only = false;
};

// A model at one set of input shapes. Immutable; any number of threads may use it.
class CompiledModel {
 public:
  // Fails if the artifact is bad; the error says why and names `path`.
  static absl::StatusOr<std::shared_ptr<const CompiledModel>> LoadFile(const std::string& path,
                                                                       const ArtifactOptions& options = {});
  // `bytes` is the content of an artifact's file; it is copied.
  static absl::StatusOr<std::shared_ptr<const CompiledModel>> FromBytes(std::string_view bytes);

  std::vector<InputDeclaration> Inputs() const;
  std::vector<InputDeclaration> Outputs() const;
  // The model at each set of input shapes in the artifact; all share its code and weights. A newly loaded
  // model is at the first set.
  std::vector<std::shared_ptr<const CompiledModel>> ShapeSets() const;
  // The first set whose inputs have these shapes, by name; the error lists the sets.
  absl::StatusOr<std::shared_ptr<const CompiledModel>> ForShapes(
      const std::map<std::string, Shape>& shapes) const;
  // The artifact's file as it was loaded and checked, whatever has become of it since.
  std::string_view FileBytes() const;
  // The runtime's handle, owned by this object.
  const attune_model* handle() const { return handle_.get(); }

 private:
  explicit CompiledModel(std::shared_ptr<const attune_model> handle) : handle_(std::move(handle)) {}
  // Takes ownership of a loaded model.
  static std::shared_ptr<const CompiledModel> Own(attune_model* model);

  std::shared_ptr<const attune_model> handle_;
};

// The memory and threads to run a model. For one thread at a time.
class Session {
 public:
  // Runs on up to `threads` threads; 0: as many as processors.
  static absl::StatusOr<Session> Create(std::shared_ptr<const CompiledModel> model, int threads);

  // Copies the values of all inputs, given in any order. Errors name an input that is missing, unknown,
  // given twice, or of the wrong dtype or shape.
  absl::Status SetInputs(const std::vector<NamedTensor>& inputs);
  absl::Status Run();
  // Like Run(), and returns the nanoseconds that each instruction took.
  absl::StatusOr<std::vector<uint64_t>> RunProfiled();
  // Copies of the last run's outputs, in the model's order; dynamic dimensions have their actual size.
  absl::StatusOr<std::vector<NamedTensor>> Outputs() const;

  const CompiledModel& model() const { return *model_; }

 private:
  struct Free {
    void operator()(attune_session* session) const { attune_session_free(session); }
  };
  // Sets sizes that the model leaves open, if it has any, to those of the inputs.
  absl::Status UseShapesOf(const std::vector<NamedTensor>& inputs,
                           const std::vector<InputDeclaration>& declarations);
  Session(std::shared_ptr<const CompiledModel> model, attune_session* session)
      : model_(std::move(model)), handle_(session) {}

  std::shared_ptr<const CompiledModel> model_;
  std::unique_ptr<attune_session, Free> handle_;
};

}  // namespace attune

#endif  // ATTUNE_API_COMPILED_MODEL_H_
