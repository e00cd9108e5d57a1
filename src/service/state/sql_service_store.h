// The service's store in a database.
#ifndef ATTUNE_SERVICE_STATE_SQL_SERVICE_STORE_H_
#define ATTUNE_SERVICE_STATE_SQL_SERVICE_STORE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/sql/sql_database.h"
#include "service/state/service_store.h"

namespace attune {

const SqlSchema& ServiceSchema();

class SqlServiceStore final : public ServiceStore {
 public:
  // As SqlLocation::Open().
  static absl::StatusOr<std::unique_ptr<SqlServiceStore>> Open(const SqlLocation& location);

  absl::Status AddToken(const AccessToken& token, const std::string& digest) override;
  absl::StatusOr<bool> AddFirstToken(const AccessToken& token, const std::string& digest) override;
  absl::StatusOr<std::optional<AccessToken>> FindToken(const std::string& digest, int64_t now_ms) override;
  absl::StatusOr<std::vector<AccessToken>> Tokens(const std::string& tenant, int64_t now_ms) override;
  absl::Status RevokeToken(const std::string& id, const std::string& tenant) override;

  absl::StatusOr<KnownUpload> AddUpload(const KnownUpload& upload, int64_t most_bytes) override;
  absl::StatusOr<std::optional<KnownUpload>> FindUpload(const std::string& tenant,
                                                        const std::string& digest) override;
  absl::StatusOr<std::vector<KnownUpload>> Uploads(const std::string& tenant) override;
  absl::Status UseUpload(const std::string& tenant, const std::string& digest, int64_t now_ms) override;
  absl::StatusOr<std::vector<KnownUpload>> RestingUploads(int64_t before_ms) override;
  absl::Status RemoveUpload(const std::string& tenant, const std::string& digest) override;

  absl::StatusOr<std::string> ClaimKey(const std::string& tenant, const std::string& key,
                                       const std::string& request, int64_t now_ms,
                                       int64_t forgotten_ms) override;
  absl::Status ForgetKey(const std::string& tenant, const std::string& key) override;
  absl::Status RemoveTenant(const std::string& tenant) override;

 private:
  explicit SqlServiceStore(std::unique_ptr<SqlDatabase> database) : database_(std::move(database)) {}

  const std::unique_ptr<SqlDatabase> database_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_STATE_SQL_SERVICE_STORE_H_
