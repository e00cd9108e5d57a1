// Keeps blobs on disk, each once, for owners who must not learn of one another's.
//
// Problem: models, code and data are large, are sent over slow lines that break, and are needed again and
// again; a digest is no secret, so that knowing it must not be enough to read what it names, and an upload
// must not show whether somebody else has sent the same. Idea: everyone uploads his own bytes, in pieces that
// go on where they broke off; what is complete and has the digest is kept once, with a hard link for each
// owner, and only that link lets him read it. Price: what another owner has already sent is sent again.
#ifndef ATTUNE_FLEET_BLOBS_BLOB_STORE_H_
#define ATTUNE_FLEET_BLOBS_BLOB_STORE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file_descriptor.h"

namespace attune {

// Whether the text is a SHA-256 as blobs have it: 64 hexadecimal digits, none of them a capital.
bool IsBlobDigest(std::string_view text);

struct BlobStoreOptions {
  int64_t most_bytes = int64_t{16} << 30;          // of all complete blobs
  int64_t most_blob_bytes = int64_t{8} << 30;      // of one
  int64_t most_partial_bytes = int64_t{16} << 30;  // of all uploads of one owner that are not complete
  double partial_seconds = 86400;                  // an upload that rests for longer is given up
};

// Digests are SHA-256 as 64 hexadecimal digits. All errors name the digest or the file. Thread safe; one
// process at a time has the folder. What was acknowledged survives a kill.
class BlobStore {
 public:
  // Creates the folder, for this user alone, if it is missing.
  static absl::StatusOr<std::unique_ptr<BlobStore>> Open(const std::string& folder,
                                                         const BlobStoreOptions& options);

  // The bytes that this owner has sent of the blob so far, from where an upload goes on; nothing else tells
  // how much there is.
  absl::StatusOr<int64_t> Sent(const std::string& owner, const std::string& digest) const;
  // Adds bytes at `offset`, which must be what Sent() returns (OutOfRange otherwise, as for a piece that
  // comes twice). ResourceExhausted if the disk is full, the blob is too large or the owner has too many
  // uploads; Unavailable while the blob is checked.
  absl::Status Append(const std::string& owner, const std::string& digest, int64_t offset,
                      std::string_view bytes);
  // The blob is complete. Fails, and forgets what was sent, if the bytes do not have the digest (DataLoss),
  // or while another call checks them (Unavailable). Evicts blobs that were not used for longest if there are
  // too many bytes.
  absl::Status Finish(const std::string& owner, const std::string& digest);

  // Whether the owner may read the blob, which counts as a use.
  bool Has(const std::string& owner, const std::string& digest);
  // The blob's file, to be read, and its size; it stays readable even if the blob is evicted meanwhile.
  // NotFound if there is none for this owner.
  absl::StatusOr<std::pair<FileDescriptor, int64_t>> Read(const std::string& owner,
                                                          const std::string& digest);
  // The owner `to` may read it as well. For owners that are one and the same to the caller. NotFound if
  // `from` may not read it.
  absl::Status Share(const std::string& from, const std::string& to, const std::string& digest);
  // The owner has no use for it any more.
  absl::Status Forget(const std::string& owner, const std::string& digest);

  // Bytes of all complete blobs.
  int64_t bytes() const;

 private:
  BlobStore(std::string folder, const BlobStoreOptions& options)
      : folder_(std::move(folder)), options_(options) {}

  std::string ContentPath(const std::string& digest) const;
  std::string OwnPath(const std::string& owner, const std::string& digest) const;
  std::string PartialPath(const std::string& owner, const std::string& digest) const;
  absl::Status Keep(const std::string& owner, const std::string& digest, const std::string& checked);
  // Bytes of the owner's uploads.
  int64_t PartialBytes(const std::string& owner) const;
  // Removes the least recently used blobs until there is room, but not `kept`.
  void Evict(const std::string& kept);
  void GoOnWithChecked();
  void RemoveOldPartials();
  void RemoveUnowned();

  const std::string folder_;
  const BlobStoreOptions options_;
  mutable std::mutex mutex_;
  int64_t bytes_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_BLOBS_BLOB_STORE_H_
