// The blobs that an agent keeps, and gets from the server when it lacks them.
#ifndef ATTUNE_FLEET_AGENT_STORED_BLOBS_H_
#define ATTUNE_FLEET_AGENT_STORED_BLOBS_H_

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fleet/agent/blob_fetcher.h"
#include "fleet/blobs/blob_store.h"
#include "fleet/wire/fleet.grpc.pb.h"

namespace attune {

// Each owner's blobs stay apart here, too: another owner's lease does not read them. Thread safe.
class StoredBlobs final : public BlobFetcher {
 public:
  static absl::StatusOr<std::unique_ptr<StoredBlobs>> Open(const std::string& folder);

  // The server's; null: there is none now. Fetch() then fails for blobs that are not here.
  void SetServer(std::shared_ptr<fleet_proto::Fleet::Stub> stub);

  absl::StatusOr<FileDescriptor> Fetch(const LeaseToken& token, const std::string& owner,
                                       const std::string& digest) override;

 private:
  explicit StoredBlobs(std::unique_ptr<BlobStore> store) : store_(std::move(store)) {}

  // Resumes where an earlier attempt broke off.
  absl::Status Download(const LeaseToken& token, const std::string& owner, const std::string& digest);

  const std::unique_ptr<BlobStore> store_;
  std::mutex mutex_;
  std::shared_ptr<fleet_proto::Fleet::Stub> stub_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_AGENT_STORED_BLOBS_H_
