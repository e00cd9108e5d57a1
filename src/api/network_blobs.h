// A compiled network as a measuring service takes it.
#ifndef ATTUNE_API_NETWORK_BLOBS_H_
#define ATTUNE_API_NETWORK_BLOBS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "api/network.h"
#include "measure/blob.h"

namespace attune {

struct NetworkBlobs {
  Blob artifact;
  Blob inputs;  // the bytes of the inputs, one after the other
};

// `inputs` may have any order. Fails if the network is not compiled or has more than one set of input shapes,
// or if an input is missing or does not fit.
absl::StatusOr<NetworkBlobs> BlobsOf(const Network& compiled, const std::vector<NamedTensor>& inputs);
// The same with random inputs.
absl::StatusOr<NetworkBlobs> BlobsOf(const Network& compiled);

}  // namespace attune

#endif  // ATTUNE_API_NETWORK_BLOBS_H_
