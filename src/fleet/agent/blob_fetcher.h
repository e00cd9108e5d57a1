// Gets blobs for a device, wherever they are.
#ifndef ATTUNE_FLEET_AGENT_BLOB_FETCHER_H_
#define ATTUNE_FLEET_AGENT_BLOB_FETCHER_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/file_descriptor.h"
#include "fleet/leases/fleet_leases.h"

namespace attune {

// Thread safe.
class BlobFetcher {
 public:
  virtual ~BlobFetcher() = default;

  // The file of a blob that the owner, who has the lease, has sent to the fleet.
  virtual absl::StatusOr<FileDescriptor> Fetch(const LeaseToken& token, const std::string& owner,
                                               const std::string& digest) = 0;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_AGENT_BLOB_FETCHER_H_
