#include "api/description.h"

#include <map>
#include <span>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "artifact/expand.h"
#include "artifact/reader.h"
#include "base/status.h"

namespace attune {
namespace {

std::string NameOf(const ConstantRange& range) {
  switch (range.encoding) {
    case ConstantEncoding::kRaw:
      return "raw";
    case ConstantEncoding::kF16:
      return "f16";
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

}  // namespace

absl::StatusOr<NetworkDescription> DescribeArtifact(std::string_view bytes) {
  ArtifactView view;
  const ArtifactError error = ParseArtifact(std::as_bytes(std::span(bytes.data(), bytes.size())), &view);
  if (!error.ok()) return InvalidInput(error.message);
  NetworkDescription description;
  description.file_bytes = bytes.size();
  description.code_bytes = view.code.size();
  description.stored_constant_bytes = view.constants.size();
  description.constant_bytes = ExpandedBytes(view.manifest, view.constants.size());
  description.constant_storage = StorageOf(view.manifest.constant_ranges);
  description.manifest = std::move(view.manifest);
  const Manifest& manifest = description.manifest;
  description.uses.resize(manifest.tensors.size());
  for (size_t i = 0; i < manifest.program.size(); ++i) {
    for (uint32_t tensor : manifest.program[i].tensors) {
      TensorUse& use = description.uses[tensor];
      if (use.first < 0) use.first = static_cast<int64_t>(i);
      use.last = static_cast<int64_t>(i);
    }
  }
  return description;
}

}  // namespace attune
