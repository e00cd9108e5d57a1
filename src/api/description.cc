#include "api/description.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "artifact/expand.h"
#include "artifact/reader.h"
#include "base/status.h"
#include "opt/pass_plan.h"
#include "runtime/cpu_features.h"

namespace attune {
namespace {

std::string NameOf(const ConstantRange& range) {
  switch (range.encoding) {
    case ConstantEncoding::kRaw:
      return "raw";
    case ConstantEncoding::kF16:
      return "f16";
    case ConstantEncoding::kBF16:
      return "bf16";
    case ConstantEncoding::kIndices:
      return absl::StrCat("indices of ", IndexBits(range), " bits");
    case ConstantEncoding::kByteIndices:
      return absl::StrCat("bytes' indices of ", IndexBits(range), " bits");
  }
  return "";
}

std::vector<ConstantStorage> StorageOf(const std::vector<ConstantRange>& ranges) {
  std::map<std::string, ConstantStorage> by_encoding;
  for (const ConstantRange& range : ranges) {
    ConstantStorage& storage = by_encoding[NameOf(range)];
    ++storage.ranges;
    storage.bytes += range.bytes;
    storage.stored_bytes += StoredBytes(range);
  }
  std::vector<ConstantStorage> all;
  for (auto& [encoding, storage] : by_encoding) {
    storage.encoding = encoding;
    all.push_back(std::move(storage));
  }
  return all;
}

// Chooses the variant as the runtime does.
size_t VariantHere(const Manifest& manifest) {
  const auto runs = [](const Variant& variant) {
    return variant.target.arch == HostArch() && MissingFeatures(variant.target.features).empty();
  };
  const auto found = std::ranges::find_if(manifest.variants, runs);
  return found == manifest.variants.end() ? 0 : static_cast<size_t>(found - manifest.variants.begin());
}

std::vector<TensorUse> UsesIn(const Program& program) {
  std::vector<TensorUse> uses(program.tensors.size());
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    for (uint32_t tensor : program.instructions[i].tensors) {
      TensorUse& use = uses[tensor];
      if (use.first < 0) use.first = static_cast<int64_t>(i);
      use.last = static_cast<int64_t>(i);
    }
  }
  return uses;
}

std::vector<StoredWeight> WeightsOf(const Variant& variant) {
  std::map<uint64_t, StoredWeight> stored;  // by offset
  std::map<uint64_t, std::string> prepacked_names;
  for (const Program& program : variant.programs) {
    for (const TensorInfo& tensor : program.tensors) {
      if (tensor.place == Place::kConstant)
        stored.try_emplace(tensor.offset, StoredWeight{tensor.name, tensor.bytes});
      if (tensor.place == Place::kPrepacked) prepacked_names.try_emplace(tensor.offset, tensor.name);
    }
  }
  for (const Prepacking& prepacking : variant.prepackings) {
    const std::vector<OperandInfo>& operands = variant.kernels[prepacking.kernel].interface.operands;
    const std::string& name = prepacked_names[prepacking.prepacked_offset];
    StoredWeight& weight =
        stored.try_emplace(prepacking.constant_offset, StoredWeight{name, operands[0].bytes}).first->second;
    weight.prepacked_bytes += operands[1].bytes;
  }
  std::vector<StoredWeight> weights;
  for (auto& [offset, weight] : stored) weights.push_back(std::move(weight));
  std::ranges::sort(weights, [](const StoredWeight& a, const StoredWeight& b) {
    return std::tie(b.stored_bytes, a.name) < std::tie(a.stored_bytes, b.name);
  });
  return weights;
}

}  // namespace

uint64_t NetworkDescription::weight_bytes() const {
  uint64_t bytes = variant().prepacked_bytes;
  for (const StoredWeight& weight : weights) {
    if (weight.prepacked_bytes == 0) bytes += weight.stored_bytes;
  }
  return bytes;
}

bool NetworkDescription::has_unchecked_indices() const {
  const absl::StatusOr<PassPlan> plan = ParsePassPlan(manifest.provenance.pass_plan);
  return plan.ok() && HasUncheckedIndices(*plan);
}

absl::StatusOr<NetworkDescription> DescribeArtifact(std::string_view bytes) {
  ArtifactView view;
  const ArtifactError error = ParseArtifact(std::as_bytes(std::span(bytes.data(), bytes.size())), &view);
  if (!error.ok()) return InvalidInput(error.message);
  NetworkDescription description;
  description.file_bytes = bytes.size();
  description.signatures = view.signatures;
  description.code_bytes = view.code.size();
  description.stored_constant_bytes = view.constants.size();
  description.constant_bytes = ExpandedBytes(view.manifest, view.constants.size());
  description.constant_storage = StorageOf(view.manifest.constant_ranges);
  description.manifest = std::move(view.manifest);
  description.variant_index = VariantHere(description.manifest);
  description.uses = UsesIn(description.program());
  description.weights = WeightsOf(description.variant());
  return description;
}

}  // namespace attune
