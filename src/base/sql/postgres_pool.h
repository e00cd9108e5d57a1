// Connections to a PostgreSQL database, for several threads.
#ifndef ATTUNE_BASE_SQL_POSTGRES_POOL_H_
#define ATTUNE_BASE_SQL_POSTGRES_POOL_H_

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/sql/postgres_connection.h"

namespace attune {

// Thread safe.
class PostgresPool {
 public:
  explicit PostgresPool(PostgresAddress address) : address_(std::move(address)) {}

  const std::string& name() const { return address_.name; }

  // Runs `work` with a connection of its own.
  absl::Status With(const std::function<absl::Status(PostgresConnection&)>& work);

 private:
  // Waits for a connection that is free. Null: there is room for a new one.
  absl::StatusOr<std::unique_ptr<PostgresConnection>> Take();
  void GiveBack(std::unique_ptr<PostgresConnection> connection);

  const PostgresAddress address_;
  std::mutex mutex_;
  std::condition_variable has_changed_;
  int taken_ = 0;
  std::vector<std::unique_ptr<PostgresConnection>> idle_;
};

}  // namespace attune

#endif  // ATTUNE_BASE_SQL_POSTGRES_POOL_H_
