// Files that tenants send in pieces, resumed after a break.
//
// Each is known by its digest, so that a client who starts again finds what it has sent. Knowing a digest
// gives nothing: every tenant sends its own bytes (fleet/blobs/blob_store.h).
#ifndef ATTUNE_SERVICE_UPLOADS_UPLOADS_H_
#define ATTUNE_SERVICE_UPLOADS_UPLOADS_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/background_loop.h"
#include "base/clock.h"
#include "fleet/blobs/blob_store.h"
#include "service/state/service_store.h"

namespace attune {

struct UploadLimits {
  int64_t most_bytes = int64_t{8} << 30;          // of one
  int64_t most_tenant_bytes = int64_t{32} << 30;  // of all of a tenant, as they will be
  int64_t rest_days = 7;                          // an upload without a use for this long is removed; 0:
                                                  // never
};

struct Upload {
  std::string digest = {};
  int64_t bytes = 0, offset = 0;  // of the whole file, and as they were sent so far
  bool is_complete = false;       // and has the digest
  int64_t created_ms = 0;         // since 1970, UTC
};

// Thread safe. The arguments must outlive it. Digests must be ones (IsBlobDigest()).
class Uploads {
 public:
  Uploads(ServiceStore& store, BlobStore& blobs, const UploadLimits& limits = {},
          const Clock& clock = SystemClock())
      : store_(store), blobs_(blobs), limits_(limits), clock_(clock) {}

  // Begins one, or finds it if the tenant has begun it. OutOfRange if it is too large, below 0, or the tenant
  // has too much, AlreadyExists if it was begun with another size.
  absl::StatusOr<Upload> Begin(const std::string& tenant, const std::string& digest, int64_t bytes);
  // All of the tenant, the latest first.
  absl::StatusOr<std::vector<Upload>> List(const std::string& tenant);
  // NotFound if there is none.
  absl::StatusOr<Upload> Find(const std::string& tenant, const std::string& digest);
  // Adds bytes at the upload's offset (Aborted if it is another one), and checks the file once all are there:
  // DataLoss, and the upload is gone, if it has another digest.
  absl::StatusOr<Upload> Append(const std::string& tenant, const std::string& digest, int64_t offset,
                                std::string_view bytes);
  // Removes uploads without a use for long, and incomplete ones without new bytes for two days. `needed`:
  // digests of a tenant's uploads that stay.
  using Needed = std::function<absl::StatusOr<std::set<std::string>>(const std::string& tenant)>;
  absl::Status RemoveResting(const Needed& needed);
  // Jobs that were submitted with it have it still.
  absl::Status Remove(const std::string& tenant, const std::string& digest);

  // The uploads, with tenants as owners.
  BlobStore& blobs() { return blobs_; }

 private:
  absl::StatusOr<Upload> StateOf(const KnownUpload& known);
  // It is needed now.
  void Use(const KnownUpload& known);
  absl::Status Forget(const KnownUpload& known);

  ServiceStore& store_;
  BlobStore& blobs_;
  const UploadLimits limits_;
  const Clock& clock_;
};

// Removes unused uploads.
//
// The uploads must outlive it.
class UploadCleaner {
 public:
  UploadCleaner(Uploads& uploads, Uploads::Needed needed) : uploads_(uploads), needed_(std::move(needed)) {}

  // From now on, every few minutes. Fails if the system has no thread to give.
  absl::Status Begin() { return loop_.Start(); }
  void Stop() { loop_.Stop(); }
  // Once, as Uploads::RemoveResting().
  absl::Status Look();

 private:
  double Step();

  Uploads& uploads_;
  const Uploads::Needed needed_;
  BackgroundLoop loop_{[this] { return Step(); }};
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_UPLOADS_UPLOADS_H_
