// Attune's wrapper around libpq: a connection whose calls end in time, and errors that name the database and
// say what to do.
#ifndef ATTUNE_BASE_SQL_POSTGRES_CONNECTION_H_
#define ATTUNE_BASE_SQL_POSTGRES_CONNECTION_H_

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/sql/sql_session.h"

struct pg_conn;
struct pg_result;

namespace attune {

class PostgresParameters;

// The parts of a URL of a PostgreSQL database.
struct PostgresAddress {
  std::map<std::string, std::string> parameters = {};  // of libpq
  std::string name = {};                               // for messages: the URL without its password

  // Fails if it is no URL that libpq understands; the message does not show it.
  static absl::StatusOr<PostgresAddress> FromUrl(const std::string& url);
};

// For one thread at a time, and not across fork(). A statement that comes again is prepared: the database
// reads and plans it once.
class PostgresConnection final : public SqlSession {
 public:
  // Fails in some seconds if the database does not answer: Unavailable; PermissionDenied if it refuses the
  // login. `patience`: how long a statement may take, the wait for locks included.
  static absl::StatusOr<std::unique_ptr<PostgresConnection>> Connect(const PostgresAddress& address,
                                                                     std::chrono::milliseconds patience);
  ~PostgresConnection() override;
  PostgresConnection(const PostgresConnection&) = delete;
  PostgresConnection& operator=(const PostgresConnection&) = delete;

  const std::string& name() const override { return address_.name; }
  absl::StatusOr<SqlAnswer> Execute(const std::string& sql, const std::vector<SqlValue>& values) override;

  // The connection is lost, and of no use any more.
  bool is_lost() const;
  // The last statement has failed only because of what others did at the same time.
  bool has_collided() const { return has_collided_; }
  // A statement of the transaction has failed, so that none of it can take effect.
  bool has_failed() const;
  // The database has ended the connection since the last call, as when it was restarted.
  bool WasEnded() const;

 private:
  struct Clear {
    void operator()(pg_result* result) const;
  };
  using Result = std::unique_ptr<pg_result, Clear>;

  PostgresConnection(const PostgresAddress& address, std::chrono::milliseconds patience)
      : address_(address), patience_(patience) {}

  // The result of the statement that was sent.
  absl::StatusOr<Result> AwaitResult();
  // Waits until the database has sent something, or has taken what is to be sent.
  absl::Status AwaitSocket(std::chrono::steady_clock::time_point end, bool is_sending);
  absl::StatusOr<SqlAnswer> ReadAnswer(const pg_result& result) const;
  // The name under which a statement with such parameters is prepared; empty if it is not.
  absl::StatusOr<std::string> PreparedName(const std::string& sql, const PostgresParameters& parameters);
  absl::Status Lost(std::string_view reason) const;
  absl::Status Error(const pg_result& result);

  const PostgresAddress address_;
  const std::chrono::milliseconds patience_;
  pg_conn* connection_ = nullptr;
  bool is_late_ = false;      // a statement had no answer in time, and may still run
  bool is_outdated_ = false;  // a prepared statement does not fit the tables any more
  bool has_collided_ = false;
  // Names of statements with the types of their parameters; empty: it came once.
  std::map<std::string, std::string> statements_;
  int num_prepared_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_BASE_SQL_POSTGRES_CONNECTION_H_
