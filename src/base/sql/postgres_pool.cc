#include "base/sql/postgres_pool.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr int kMostConnections = 12;  // PostgreSQL's own usual bound is 100 for all its clients
constexpr std::chrono::seconds kPatience(30);

}  // namespace

absl::Status PostgresPool::With(const std::function<absl::Status(PostgresConnection&)>& work) {
  ASSIGN_OR_RETURN(std::unique_ptr<PostgresConnection> connection, Take());
  if (connection != nullptr && connection->WasEnded()) connection = nullptr;
  if (connection == nullptr) {
    auto made = PostgresConnection::Connect(address_, kPatience);
    if (!made.ok()) {
      GiveBack(nullptr);
      return made.status();
    }
    connection = *std::move(made);
  }
  const absl::Status worked = work(*connection);
  GiveBack(std::move(connection));
  return worked;
}

absl::StatusOr<std::unique_ptr<PostgresConnection>> PostgresPool::Take() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!has_changed_.wait_for(lock, kPatience, [this] { return taken_ < kMostConnections; }))
    return absl::UnavailableError(absl::StrCat(name(), ": all connections to it are in use; try again"));
  ++taken_;
  if (idle_.empty()) return nullptr;
  std::unique_ptr<PostgresConnection> connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

void PostgresPool::GiveBack(std::unique_ptr<PostgresConnection> connection) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    --taken_;
    if (connection != nullptr && !connection->is_lost()) idle_.push_back(std::move(connection));
  }
  has_changed_.notify_one();
}

}  // namespace attune
