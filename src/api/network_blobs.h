// A compiled network as a measuring service takes it.
#ifndef ATTUNE_API_NETWORK_BLOBS_H_
#define ATTUNE_API_NETWORK_BLOBS_H_

#include "absl/status/statusor.h"
#include "api/network.h"
#include "measure/blob.h"

namespace attune {

struct NetworkBlobs {
  Blob artifact;
  Blob inputs;  // the bytes of random inputs, one after the other
};

absl::StatusOr<NetworkBlobs> BlobsOf(const Network& compiled);

}  // namespace attune

#endif  // ATTUNE_API_NETWORK_BLOBS_H_
