#include "api/network_blobs.h"

#include <string>
#include <utility>
#include <vector>

#include "api/tensors.h"
#include "base/status.h"

namespace attune {

absl::StatusOr<NetworkBlobs> BlobsOf(const Network& compiled) {
  RETURN_IF_ERROR(compiled.status());
  constexpr uint64_t kSeed = 0;
  ASSIGN_OR_RETURN(const std::vector<NamedTensor> inputs, compiled.Complete({}, kSeed));
  std::string bytes;
  for (const NamedTensor& input : inputs) {
    bytes.append(reinterpret_cast<const char*>(input.tensor.data()),
                 static_cast<size_t>(input.tensor.num_bytes()));
  }
  ASSIGN_OR_RETURN(Blob artifact, Blob::Of(compiled.artifact()));
  ASSIGN_OR_RETURN(Blob all_inputs, Blob::Of(std::move(bytes)));
  return NetworkBlobs{.artifact = std::move(artifact), .inputs = std::move(all_inputs)};
}

}  // namespace attune
