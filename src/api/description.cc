#include "api/description.h"

#include <span>
#include <utility>

#include "artifact/reader.h"
#include "base/status.h"

namespace attune {

absl::StatusOr<NetworkDescription> DescribeArtifact(std::string_view bytes) {
  ArtifactView view;
  const ArtifactError error = ParseArtifact(std::as_bytes(std::span(bytes.data(), bytes.size())), &view);
  if (!error.ok()) return InvalidInput(error.message);
  NetworkDescription description;
  description.file_bytes = bytes.size();
  description.code_bytes = view.code.size();
  description.constant_bytes = view.constants.size();
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
