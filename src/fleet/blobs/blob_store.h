// Keeps blobs, each once, for owners who must not learn of one another's.
//
// Problem: models, code and data are large, are sent over slow lines that break, and are needed again and
// again; a digest is no secret, so that knowing it must not be enough to read what it names, and an upload
// must not show whether another owner has sent the same. Idea: every owner uploads the bytes, in pieces that
// resume where they broke off; a complete blob with the right digest is stored once, with a hard link for
// each owner, and only that link lets an owner read it. Price: what another owner has already sent is sent
// again.
#ifndef ATTUNE_FLEET_BLOBS_BLOB_STORE_H_
#define ATTUNE_FLEET_BLOBS_BLOB_STORE_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file_descriptor.h"

namespace attune {

// Whether the text is a SHA-256 as blobs have it: 64 hexadecimal digits, none of them a capital.
bool IsBlobDigest(std::string_view text);
absl::Status CheckBlobDigest(const std::string& digest);

// The error of a call that comes while another one checks the blob, which is Passing().
absl::Status BeingChecked(const std::string& digest);

struct BlobStoreOptions {
  int64_t most_bytes = int64_t{16} << 30;          // of all complete blobs
  int64_t most_blob_bytes = int64_t{8} << 30;      // of one
  int64_t most_partial_bytes = int64_t{16} << 30;  // of all uploads of one owner that are not complete
  int64_t most_partials = 4096;                    // of these uploads: each is a file or a row
  double partial_seconds = 86400;                  // an upload that rests for longer is given up
  // Rows of a database name its blobs: what is complete survives a power cut, at the price of waiting for the
  // disk. The others are caches.
  bool is_lasting = false;
};

// Digests are SHA-256 as 64 hexadecimal digits. All errors name the digest, and the file or the database.
// Thread safe. Acknowledged changes survive a kill.
class BlobStore {
 public:
  virtual ~BlobStore() = default;

  // In a folder, which is created, for this user alone, if it is missing; one process at a time has it.
  static absl::StatusOr<std::unique_ptr<BlobStore>> Open(const std::string& folder,
                                                         const BlobStoreOptions& options);

  // Returns the number of bytes that this owner has sent of the blob so far, where an upload resumes; nothing
  // else reveals the number.
  virtual absl::StatusOr<int64_t> Sent(const std::string& owner, const std::string& digest) = 0;
  // Adds bytes at `offset`, which must be what Sent() returns (OutOfRange otherwise, as for a piece that
  // comes twice). ResourceExhausted if the disk is full, the blob is too large or the owner has too many
  // uploads; Unavailable while the blob is checked.
  virtual absl::Status Append(const std::string& owner, const std::string& digest, int64_t offset,
                              std::string_view bytes) = 0;
  // The blob is complete. Fails, and forgets what was sent, if the bytes do not have the digest (DataLoss),
  // or while another call checks them (Unavailable). Evicts blobs that were not used for longest if there are
  // too many bytes.
  virtual absl::Status Finish(const std::string& owner, const std::string& digest) = 0;

  // Whether the owner may read the blob, which counts as a use.
  virtual bool Has(const std::string& owner, const std::string& digest) = 0;
  // The blob's file, to be read, and its size; it stays readable even if the blob is evicted meanwhile.
  // NotFound if there is none for this owner.
  virtual absl::StatusOr<std::pair<FileDescriptor, int64_t>> Read(const std::string& owner,
                                                                  const std::string& digest) = 0;
  // The owner `to` may read it as well. For owners that are one and the same to the caller. NotFound if
  // `from` may not read it.
  virtual absl::Status Share(const std::string& from, const std::string& to, const std::string& digest) = 0;
  // The owner gets the blob that `from_owner` has in another store, and keeps it independently of that store.
  // NotFound if `from_owner` does not have it.
  virtual absl::Status Take(BlobStore& from, const std::string& from_owner, const std::string& owner,
                            const std::string& digest);
  // The owner has no use for it any more.
  virtual absl::Status Forget(const std::string& owner, const std::string& digest) = 0;
  // The owner has no use for anything but these, and gives up all other uploads that are not complete.
  virtual absl::Status ForgetAllBut(const std::string& owner, const std::set<std::string>& digests) = 0;

  // Bytes of all complete blobs.
  virtual int64_t bytes() const = 0;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_BLOBS_BLOB_STORE_H_
