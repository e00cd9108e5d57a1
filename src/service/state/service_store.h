// The service's memory across restarts: tokens, uploads, and keys of requests.
#ifndef ATTUNE_SERVICE_STATE_SERVICE_STORE_H_
#define ATTUNE_SERVICE_STATE_SERVICE_STORE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/sql/sql_database.h"
#include "service/access/access.h"

namespace attune {

// A file that a tenant sends, or has sent.
struct KnownUpload {
  std::string tenant = {}, digest = {};  // of the whole file: SHA-256
  int64_t bytes = 0;
  int64_t created_ms = 0;
  int64_t used_ms = 0;  // time of its last use; 0: before that was recorded

  bool operator==(const KnownUpload&) const = default;
};

// Bounds of one tenant.
inline constexpr int64_t kMostTokens = 200, kMostUploads = 2000;

const SqlSchema& ServiceSchema();

// A call has taken effect when it returns: neither the end of the process nor a power cut undoes it. A call
// that fails has no effect. Errors name the database. Thread safe; several processes may use the same one.
class ServiceStore {
 public:
  // As SqlLocation::Open().
  static absl::StatusOr<std::unique_ptr<ServiceStore>> Open(const SqlLocation& location);

  // FailedPrecondition if the tenant has kMostTokens.
  absl::Status AddToken(const AccessToken& token, const std::string& digest);
  // Adds it if there has never been one; returns whether it has.
  absl::StatusOr<bool> AddFirstToken(const AccessToken& token, const std::string& digest);
  // Nothing if there is none, or it was revoked, or expired before `now_ms`.
  absl::StatusOr<std::optional<AccessToken>> FindToken(const std::string& digest, int64_t now_ms);
  // Returns the tenant's valid ones, the latest first.
  absl::StatusOr<std::vector<AccessToken>> Tokens(const std::string& tenant, int64_t now_ms);
  // Counts at once. NotFound if the tenant, any if it is empty, has no such token.
  absl::Status RevokeToken(const std::string& id, const std::string& tenant);

  // The tenant's upload with this digest, which is added if there is none. OutOfRange if all of them would
  // have more than `most_bytes`, or are too many.
  absl::StatusOr<KnownUpload> AddUpload(const KnownUpload& upload, int64_t most_bytes);
  absl::StatusOr<std::optional<KnownUpload>> FindUpload(const std::string& tenant, const std::string& digest);
  // The tenant's, the oldest first.
  absl::StatusOr<std::vector<KnownUpload>> Uploads(const std::string& tenant);
  // It is needed now. Does nothing if it is gone.
  absl::Status UseUpload(const std::string& tenant, const std::string& digest, int64_t now_ms);
  // Returns uploads of all tenants without a use since `before_ms`, by tenants.
  absl::StatusOr<std::vector<KnownUpload>> RestingUploads(int64_t before_ms);
  // Forgets it, if it is known.
  absl::Status RemoveUpload(const std::string& tenant, const std::string& digest);

  // The request that the tenant's key stands for: the given one, unless the key is known. Forgets keys from
  // before `forgotten_ms`.
  absl::StatusOr<std::string> ClaimKey(const std::string& tenant, const std::string& key,
                                       const std::string& request, int64_t now_ms, int64_t forgotten_ms);
  absl::Status ForgetKey(const std::string& tenant, const std::string& key);
  // Forgets its tokens and keys of requests.
  absl::Status RemoveTenant(const std::string& tenant);

 private:
  explicit ServiceStore(std::unique_ptr<SqlDatabase> database) : database_(std::move(database)) {}

  const std::unique_ptr<SqlDatabase> database_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_STATE_SERVICE_STORE_H_
