// A loaded artifact: the best variant for this processor, its code ready to run, its constants (expanded if
// the file has them compressed), and its prepacked weights.
#ifndef ATTUNE_RUNTIME_MODEL_H_
#define ATTUNE_RUNTIME_MODEL_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "artifact/expand.h"
#include "artifact/reader.h"
#include "runtime/device.h"
#include "runtime/error.h"
#include "runtime/mapping.h"

namespace attune {

// Has the fields of attune_load_options.
struct LoadOptions {
  std::string expected_sha256;                             // empty: any file
  std::optional<std::vector<std::string>> trusted_sha256;  // nullopt: any file
  std::optional<std::vector<Ed25519Key>> trusted_keys;     // nullopt: any file
  bool verify_constants = false;
  bool read_whole = false;
  bool describe_only = false;
};

// Immutable, so any number of threads may use it.
class LoadedModel {
 public:
  // Errors name the path.
  static RuntimeStatus LoadFile(const std::string& path, const LoadOptions& options,
                                std::shared_ptr<const LoadedModel>* model);
  static RuntimeStatus LoadBytes(std::span<const std::byte> bytes, const LoadOptions& options,
                                 std::shared_ptr<const LoadedModel>* model);

  const Manifest& manifest() const { return view_.manifest; }
  // The first variant that can run here. If none can and the model is only described, the first of all.
  const Variant& variant() const { return view_.manifest.variants[variant_]; }
  // By whom they are is not verified, unless keys are trusted.
  const std::vector<ArtifactSignature>& signatures() const { return view_.signatures; }
  // The bytes that were loaded.
  std::span<const std::byte> file() const { return file_->bytes(); }
  const Device& device() const { return device_; }
  uint64_t code_bytes() const { return view_.code.size(); }
  // The size of all variants' constants in memory.
  uint64_t constant_bytes() const { return ExpandedBytes(manifest(), view_.constants.size()); }

  // OK if it can run here; otherwise says why it cannot.
  RuntimeStatus CheckRunnable() const;

  // These are in the device's memory. Only for a model that can run.
  KernelFunction kernel(uint32_t index) const;
  std::byte* constants() const { return constants_.get(); }
  std::byte* prepacked() const { return prepacked_.get(); }

  RuntimeStatus Verify() const;

 private:
  LoadedModel(std::string name, std::unique_ptr<Mapping> file)
      : name_(std::move(name)), file_(std::move(file)), device_(CpuDevice()) {}
  RuntimeStatus Init(const LoadOptions& options);
  RuntimeStatus CheckDigest(const LoadOptions& options) const;
  // Picks the variant. Fails if none can run here, and says why the least demanding one cannot.
  RuntimeStatus ChooseVariant();
  RuntimeStatus LoadConstants(const LoadOptions& options);
  RuntimeStatus Prepack();
  RuntimeStatus NoMemoryForWeights(uint64_t bytes) const;
  static RuntimeStatus Load(std::string name, std::unique_ptr<Mapping> file, const LoadOptions& options,
                            std::shared_ptr<const LoadedModel>* model);
  // The status with the file's name before its message.
  RuntimeStatus Named(RuntimeStatus status) const;
  RuntimeStatus Named(const ArtifactError& error) const;

  std::string name_;
  bool describe_only_ = false;
  std::unique_ptr<Mapping> file_;
  std::unique_ptr<Mapping> expanded_;  // nullptr: the constants are used directly from the file
  const Device& device_;
  ArtifactView view_;
  size_t variant_ = 0;
  DeviceMemory code_;
  DeviceMemory constants_;
  DeviceMemory prepacked_;
};

// The variant of the model behind the handle of the C interface. Lives as long as the handle; not exported.
const Variant& VariantOf(const attune_model& model);

}  // namespace attune

#endif  // ATTUNE_RUNTIME_MODEL_H_
