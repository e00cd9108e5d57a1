// The service's store in one SQLite file.
#ifndef ATTUNE_SERVICE_REST_SQLITE_SERVICE_STORE_H_
#define ATTUNE_SERVICE_REST_SQLITE_SERVICE_STORE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/sqlite/sqlite.h"
#include "service/rest/service_store.h"

namespace attune {

class SqliteServiceStore final : public ServiceStore {
 public:
  // Creates the file and its folder if they are missing. Fails with one sentence if the file is damaged,
  // belongs to another program, or was written by a newer version.
  static absl::StatusOr<std::unique_ptr<SqliteServiceStore>> Open(const std::string& path);

  absl::Status AddToken(const AccessToken& token, const std::string& digest) override;
  absl::StatusOr<bool> AddFirstToken(const AccessToken& token, const std::string& digest) override;
  absl::StatusOr<std::optional<AccessToken>> FindToken(const std::string& digest, int64_t now_ms) override;
  absl::StatusOr<std::vector<AccessToken>> Tokens(const std::string& tenant, int64_t now_ms) override;
  absl::Status RevokeToken(const std::string& id, const std::string& tenant) override;

  absl::StatusOr<KnownUpload> AddUpload(const KnownUpload& upload, int64_t most_bytes) override;
  absl::StatusOr<std::optional<KnownUpload>> FindUpload(const std::string& tenant,
                                                        const std::string& digest) override;
  absl::StatusOr<std::vector<KnownUpload>> Uploads(const std::string& tenant) override;
  absl::Status RemoveUpload(const std::string& tenant, const std::string& digest) override;

  absl::StatusOr<std::string> ClaimKey(const std::string& tenant, const std::string& key,
                                       const std::string& request, int64_t now_ms,
                                       int64_t forgotten_ms) override;
  absl::Status ForgetKey(const std::string& tenant, const std::string& key) override;

 private:
  explicit SqliteServiceStore(std::unique_ptr<SqliteConnection> connection)
      : connection_(std::move(connection)) {}

  // For those who hold the mutex.
  absl::Status InsertToken(const AccessToken& token, const std::string& digest);
  absl::StatusOr<std::vector<KnownUpload>> UploadsOf(const std::string& tenant);

  std::mutex mutex_;  // of the connection
  const std::unique_ptr<SqliteConnection> connection_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_SQLITE_SERVICE_STORE_H_
