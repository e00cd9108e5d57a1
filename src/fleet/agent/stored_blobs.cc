#include "fleet/agent/stored_blobs.h"

#include <grpcpp/grpcpp.h>

#include "base/status.h"
#include "fleet/wire/rpc_status.h"
#include "fleet/wire/token.h"

namespace attune {

namespace proto = fleet_proto;

absl::StatusOr<std::unique_ptr<StoredBlobs>> StoredBlobs::Open(const std::string& folder) {
  ASSIGN_OR_RETURN(std::unique_ptr<BlobStore> store, BlobStore::Open(folder, {}));
  return std::unique_ptr<StoredBlobs>(new StoredBlobs(std::move(store)));
}

void StoredBlobs::SetServer(std::shared_ptr<proto::Fleet::Stub> stub) {
  const std::lock_guard<std::mutex> lock(mutex_);
  stub_ = std::move(stub);
}

absl::StatusOr<FileDescriptor> StoredBlobs::Fetch(const LeaseToken& token, const std::string& owner,
                                                  const std::string& digest) {
  if (!store_->Has(owner, digest)) RETURN_IF_ERROR(Download(token, owner, digest));
  ASSIGN_OR_RETURN(auto blob, store_->Read(owner, digest));
  return std::move(blob.first);
}

absl::Status StoredBlobs::Download(const LeaseToken& token, const std::string& owner,
                                   const std::string& digest) {
  std::shared_ptr<proto::Fleet::Stub> stub;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stub = stub_;
  }
  if (stub == nullptr) return absl::UnavailableError("the server is not connected");
  proto::ReadBlobRequest request;
  ToWire(token, *request.mutable_token());
  request.set_digest(digest);
  ASSIGN_OR_RETURN(const int64_t sent, store_->Sent(owner, digest));
  request.set_offset(sent);
  grpc::ClientContext context;
  const auto pieces = stub->ReadBlob(&context, request);
  proto::BlobPiece piece;
  absl::Status status;
  while (status.ok() && pieces->Read(&piece))
    status = store_->Append(owner, digest, piece.offset(), piece.bytes());
  if (!status.ok()) context.TryCancel();
  const absl::Status ended = FromRpc(pieces->Finish());
  RETURN_IF_ERROR(status);
  RETURN_IF_ERROR(ended);
  return store_->Finish(owner, digest);
}

}  // namespace attune
