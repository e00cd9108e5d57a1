#include "api/network_blobs.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "api/tensors.h"
#include "base/status.h"

namespace attune {

absl::StatusOr<NetworkBlobs> BlobsOf(const Network& compiled, const std::vector<NamedTensor>& inputs) {
  RETURN_IF_ERROR(compiled.status());
  ASSIGN_OR_RETURN(const NetworkDescription description, compiled.Describe());
  if (description.variant().programs.size() > 1)
    return NotSupported(compiled.source(), ": has several sets of input shapes; compile it for one");
  ASSIGN_OR_RETURN(const std::vector<InputDeclaration> declarations, compiled.Inputs());
  // In the artifact's order, without inputs that have disappeared from the network.
  std::string bytes;
  for (const Port& port : description.program().inputs) {
    const auto input = std::ranges::find(inputs, port.name, &NamedTensor::name);
    const auto declaration = std::ranges::find(declarations, port.name, &InputDeclaration::name);
    if (input == inputs.end() || declaration == declarations.end())
      return InvalidInput(compiled.source(), ": input \"", port.name, "\" has no value");
    RETURN_IF_ERROR(Annotate(CheckInput(*declaration, input->tensor), compiled.source()));
    bytes.append(reinterpret_cast<const char*>(input->tensor.data()),
                 static_cast<size_t>(input->tensor.num_bytes()));
  }
  ASSIGN_OR_RETURN(std::string content, compiled.ArtifactBytes());
  ASSIGN_OR_RETURN(Blob artifact, Blob::Of(std::move(content)));
  ASSIGN_OR_RETURN(Blob all_inputs, Blob::Of(std::move(bytes)));
  return NetworkBlobs{.artifact = std::move(artifact), .inputs = std::move(all_inputs)};
}

absl::StatusOr<NetworkBlobs> BlobsOf(const Network& compiled) {
  constexpr uint64_t kSeed = 0;
  ASSIGN_OR_RETURN(const std::vector<NamedTensor> inputs, compiled.Complete({}, kSeed));
  return BlobsOf(compiled, inputs);
}

}  // namespace attune
