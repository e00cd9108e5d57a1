#include "runtime/model.h"

#include <algorithm>

#include "base/joined.h"
#include "base/printable.h"
#include "runtime/float_mode.h"
#include "runtime/sha256.h"
#include "runtime/signature_check.h"

namespace attune {
namespace {

attune_code CodeOf(ArtifactFault fault) {
  switch (fault) {
    case ArtifactFault::kNone:
      return ATTUNE_OK;
    case ArtifactFault::kNotArtifact:
      return ATTUNE_NOT_ARTIFACT;
    case ArtifactFault::kOtherVersion:
      return ATTUNE_WRONG_VERSION;
    case ArtifactFault::kCutShort:
    case ArtifactFault::kDamaged:
      return ATTUNE_DAMAGED;
  }
  return ATTUNE_DAMAGED;
}

std::string LowerCase(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace

RuntimeStatus LoadedModel::LoadFile(const std::string& path, const LoadOptions& options,
                                    std::shared_ptr<const LoadedModel>* model) {
  // If the digest matters, copy the file to private memory: the hashed bytes are then the ones that run,
  // even if someone changes the file meanwhile.
  const bool hashed = !options.expected_sha256.empty() || options.trusted_sha256.has_value() ||
                      options.trusted_keys.has_value();
  std::unique_ptr<Mapping> file;
  RuntimeStatus status =
      hashed || options.read_whole ? Mapping::ReadFile(path, &file) : Mapping::MapFile(path, &file);
  if (!status.ok()) return status;
  return Load(path, std::move(file), options, model);
}

RuntimeStatus LoadedModel::LoadBytes(std::span<const std::byte> bytes, const LoadOptions& options,
                                     std::shared_ptr<const LoadedModel>* model) {
  std::unique_ptr<Mapping> copy;
  if (RuntimeStatus status = Mapping::Copy(bytes, &copy); !status.ok()) return status;
  return Load("the artifact in memory", std::move(copy), options, model);
}

RuntimeStatus LoadedModel::Load(std::string name, std::unique_ptr<Mapping> file, const LoadOptions& options,
                                std::shared_ptr<const LoadedModel>* model) {
  std::shared_ptr<LoadedModel> loaded(new LoadedModel(std::move(name), std::move(file)));
  RuntimeStatus status = loaded->Init(options);
  if (status.ok()) *model = std::move(loaded);
  return status;
}

RuntimeStatus LoadedModel::Init(const LoadOptions& options) {
  if (RuntimeStatus status = CheckDigest(options); !status.ok()) return Named(std::move(status));
  if (ArtifactError error = ParseArtifact(file_->bytes(), &view_); !error.ok()) return Named(error);
  if (options.trusted_keys.has_value()) {
    RuntimeStatus status = CheckSignatures(view_.unsigned_file, view_.signatures, *options.trusted_keys);
    if (!status.ok()) return Named(std::move(status));
  }
  const RuntimeStatus chosen = ChooseVariant();
  if (options.describe_only) {
    describe_only_ = true;
    return options.verify_constants ? Verify() : RuntimeStatus();
  }
  if (!chosen.ok()) return chosen;
  if (RuntimeStatus status = LoadConstants(options); !status.ok()) return status;
  code_ = device_.LoadCode(view_.code);
  if (code_ == nullptr || (constants_ == nullptr && constant_bytes() != 0)) {
    return Named(RuntimeStatus{ATTUNE_OUT_OF_MEMORY,
                               "cannot be made executable: the system has no memory for it, or forbids it"});
  }
  return Prepack();
}

RuntimeStatus LoadedModel::ChooseVariant() {
  RuntimeStatus status;
  for (size_t i = 0; i < manifest().variants.size(); ++i) {
    status = device_.CheckTarget(manifest().variants[i].target);
    if (status.ok()) {
      variant_ = i;
      return status;
    }
  }
  return Named(std::move(status));
}

RuntimeStatus LoadedModel::CheckDigest(const LoadOptions& options) const {
  if (options.expected_sha256.empty() && !options.trusted_sha256.has_value()) return {};
  const std::string digest = RuntimeSha256Hex(file_->bytes());
  if (!options.expected_sha256.empty() && digest != LowerCase(options.expected_sha256)) {
    return {ATTUNE_NOT_TRUSTED, Joined({"has the SHA-256 ", digest,
                                        " and not the expected one; it is not the file that was trusted"})};
  }
  if (!options.trusted_sha256.has_value()) return {};
  const auto is_it = [&](const std::string& trusted) { return digest == LowerCase(trusted); };
  if (std::ranges::any_of(*options.trusted_sha256, is_it)) return {};
  return {ATTUNE_NOT_TRUSTED, Joined({"has the SHA-256 ", digest,
                                      ", which is not on the list of trusted ones; add it if you trust its "
                                      "author, since the file is native code"})};
}

RuntimeStatus LoadedModel::CheckRunnable() const {
  if (describe_only_) return Named({ATTUNE_INVALID_ARGUMENT, "is loaded to be described, not to be run"});
  return Named(device_.CheckTarget(variant().target));
}

RuntimeStatus LoadedModel::LoadConstants(const LoadOptions& options) {
  const bool is_compressed = !manifest().constant_ranges.empty();
  // Expanding reads all of them in any case.
  if (options.verify_constants || is_compressed) {
    if (RuntimeStatus status = Verify(); !status.ok()) return status;
  }
  std::span<const std::byte> constants = view_.constants;
  if (is_compressed) {
    const size_t bytes = constant_bytes();
    const std::vector<ConstantRange>& ranges = manifest().constant_ranges;
    const auto expand = [&](std::span<std::byte> to) {
      ExpandConstants(ranges, RangesOf(variant(), ranges), view_.constants, to.first(bytes));
      return RuntimeStatus();
    };
    if (!Mapping::Make(bytes + kReadAhead, expand, &expanded_).ok()) return NoMemoryForWeights(bytes);
    constants = expanded_->bytes();
  }
  constants_ = device_.Import(constants);
  return {};
}

RuntimeStatus LoadedModel::Prepack() {
  if (variant().prepackings.empty()) return {};
  const uint64_t bytes = variant().prepacked_bytes + kReadAhead + variant().scratch_bytes;
  prepacked_ = device_.Allocate(variant().prepacked_bytes + kReadAhead);
  const DeviceMemory scratch = device_.Allocate(variant().scratch_bytes);
  if (prepacked_ == nullptr || scratch == nullptr) return NoMemoryForWeights(bytes);
  std::unique_ptr<Stream> stream;
  if (RuntimeStatus status = device_.CreateStream(1, &stream); !status.ok()) return Named(std::move(status));
  const IeeeMode mode;
  for (const Prepacking& prepacking : variant().prepackings) {
    void* const buffers[] = {constants() + prepacking.constant_offset,
                             prepacked() + prepacking.prepacked_offset};
    const int32_t failure =
        stream->Launch({kernel(prepacking.kernel), buffers, nullptr, scratch.get(), 0, 1});
    if (failure == 0) continue;
    return Named(RuntimeStatus{
        ATTUNE_KERNEL_FAILED,
        Joined({"cannot be loaded: the kernel \"", Printable(variant().kernels[prepacking.kernel].name),
                "\", which makes weights, failed with status ", failure})});
  }
  return {};
}

RuntimeStatus LoadedModel::NoMemoryForWeights(uint64_t bytes) const {
  return Named(RuntimeStatus{
      ATTUNE_OUT_OF_MEMORY,
      Joined({"cannot be loaded: the system has no memory for its ", bytes, " bytes of weights"})});
}

KernelFunction LoadedModel::kernel(uint32_t index) const {
  return reinterpret_cast<KernelFunction>(code_.get() + variant().kernels[index].interface.code_offset);
}

RuntimeStatus LoadedModel::Verify() const { return Named(VerifyConstants(view_)); }

RuntimeStatus LoadedModel::Named(RuntimeStatus status) const {
  if (!status.ok()) status.message = Joined({name_, " ", status.message});
  return status;
}

RuntimeStatus LoadedModel::Named(const ArtifactError& error) const {
  return Named(RuntimeStatus{CodeOf(error.fault), error.message});
}

}  // namespace attune
