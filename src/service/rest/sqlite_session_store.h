// Sessions in one SQLite file.
#ifndef ATTUNE_SERVICE_REST_SQLITE_SESSION_STORE_H_
#define ATTUNE_SERVICE_REST_SQLITE_SESSION_STORE_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/sqlite/sqlite.h"
#include "service/rest/session_store.h"

namespace attune {

class SqliteSessionStore final : public SessionStore {
 public:
  // As SqliteServiceStore::Open().
  static absl::StatusOr<std::unique_ptr<SqliteSessionStore>> Open(const std::string& path);

  absl::Status AddSession(const PageSession& session, const std::string& digest) override;
  absl::StatusOr<std::optional<PageSession>> FindSession(const std::string& digest, int64_t now_ms) override;
  absl::StatusOr<std::vector<PageSession>> Sessions(const std::string& tenant, int64_t now_ms) override;
  absl::Status EndSession(const std::string& id, const std::string& tenant) override;

 private:
  explicit SqliteSessionStore(std::unique_ptr<SqliteConnection> connection)
      : connection_(std::move(connection)) {}

  std::mutex mutex_;  // of the connection
  const std::unique_ptr<SqliteConnection> connection_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_SQLITE_SESSION_STORE_H_
