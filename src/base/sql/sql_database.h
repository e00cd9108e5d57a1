// The tables of one store in a database, SQLite or PostgreSQL.
//
// Problem: a store is used by many threads and processes, reads before it writes, and its database may be
// killed or out of reach at any moment. Idea: work is a function that may run again. Writing work runs in a
// transaction, and one at a time for each store, in all processes, as SQLite has it; so no store has to think
// of what others write meanwhile, and none fails to serialize. Price: two writers of one store wait for one
// another's commit.
#ifndef ATTUNE_BASE_SQL_SQL_DATABASE_H_
#define ATTUNE_BASE_SQL_SQL_DATABASE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/sql/sql_schema.h"
#include "base/sql/sql_session.h"

namespace attune {

// Thread safe. Errors name the database. Unavailable: it does not answer now, or was lost in the middle;
// whether the work has taken effect is then unknown if it was about to commit, and otherwise it has not. The
// next call connects again by itself.
class SqlDatabase {
 public:
  virtual ~SqlDatabase() = default;

  // For messages; without a password.
  virtual const std::string& name() const = 0;

  // Runs `work`, a function of (SqlSession&) that returns a Status or a StatusOr; each of its statements sees
  // what is committed when it begins. It may run more than once. No other Read() or Write() within it.
  template <typename Work>
  std::invoke_result_t<Work, SqlSession&> Read(const Work& work) {
    return Returning(work, [this](const Step& step) { return RunReading(step); });
  }
  // The same for work that takes effect if it returns ok, and else does not. No other work writes in this
  // store meanwhile.
  template <typename Work>
  std::invoke_result_t<Work, SqlSession&> Write(const Work& work) {
    return Returning(work, [this](const Step& step) { return RunWriting(step); });
  }

  // Whether a change would be taken now, or within half a second. Does not notice that the disk is full.
  virtual absl::Status CheckWritable() = 0;

  // The versions of the store's tables.
  virtual absl::StatusOr<int64_t> Version() = 0;
  // Goes forward or back, all steps or none. InvalidArgument if there is no such version.
  virtual absl::Status Migrate(int64_t version) = 0;

 protected:
  using Step = std::function<absl::Status(SqlSession&)>;
  virtual absl::Status RunReading(const Step& step) = 0;
  virtual absl::Status RunWriting(const Step& step) = 0;

 private:
  template <typename Work, typename Run>
  static std::invoke_result_t<Work, SqlSession&> Returning(const Work& work, const Run& run) {
    using Result = std::invoke_result_t<Work, SqlSession&>;
    if constexpr (std::is_same_v<Result, absl::Status>) {
      return run(work);
    } else {
      Result result = absl::InternalError("the work has not run");
      const absl::Status ran = run([&](SqlSession& session) {
        result = work(session);
        return result.status();
      });
      return ran.ok() ? std::move(result) : Result(ran);
    }
  }
};

// Run one statement as work of its own; the functions of the same names for a session say what they return.
template <typename... Values>
absl::StatusOr<int64_t> ChangeRows(SqlDatabase& database, const std::string& sql, const Values&... values) {
  return database.Write([&](SqlSession& session) { return ChangeRows(session, sql, values...); });
}
template <typename... Values>
absl::Status Execute(SqlDatabase& database, const std::string& sql, const Values&... values) {
  return ChangeRows(database, sql, values...).status();
}
template <typename Row, typename... Values>
absl::StatusOr<std::vector<Row>> ReadRows(SqlDatabase& database, absl::StatusOr<Row> (*read)(const SqlRow&),
                                          const std::string& sql, const Values&... values) {
  return database.Read([&](SqlSession& session) { return ReadRows(session, read, sql, values...); });
}
template <typename Row, typename... Values>
absl::StatusOr<std::vector<Row>> ReadSoundRows(SqlDatabase& database,
                                               absl::StatusOr<Row> (*read)(const SqlRow&),
                                               const std::string& sql, const Values&... values) {
  return database.Read([&](SqlSession& session) { return ReadSoundRows(session, read, sql, values...); });
}
template <typename Row, typename... Values>
absl::StatusOr<std::optional<Row>> ReadRow(SqlDatabase& database, absl::StatusOr<Row> (*read)(const SqlRow&),
                                           const std::string& sql, const Values&... values) {
  return database.Read([&](SqlSession& session) { return ReadRow(session, read, sql, values...); });
}

enum class SqlOpening {
  kPrepare,  // makes tables that are missing, and brings older ones up to date; refuses newer ones
  kAsItIs,   // leaves the tables at the version that they have
};

// The store's tables in an SQLite file, which is made with its folder if it is missing. Fails with one
// sentence if the file is damaged, belongs to another program, or was written by a newer version.
absl::StatusOr<std::unique_ptr<SqlDatabase>> OpenSqlite(const std::string& path, const SqlSchema& schema,
                                                        SqlOpening opening = SqlOpening::kPrepare);

class PostgresPool;

// Is run in each writing transaction before its work, which fails if this does.
using SqlFence = std::function<absl::Status(SqlSession&)>;

// This environment variable has the URL of a server's database if no flag names one.
inline constexpr char kDatabaseVariable[] = "ATTUNE_DATABASE";

// Work on the tables of all stores.
using SqlWork = std::function<absl::Status(SqlSession&)>;

// Where the databases of a server's stores are.
class SqlLocation {
 public:
  // In SQLite files of this folder.
  explicit SqlLocation(std::string folder) : folder_(std::move(folder)) {}
  // In the PostgreSQL database of this URL (postgresql://…). Fails if it is none; does not connect yet.
  static absl::StatusOr<SqlLocation> Postgres(const std::string& url);

  // The same one, with this fence around what is opened from now on. For PostgreSQL alone.
  SqlLocation Fenced(SqlFence fence) const;

  bool is_postgres() const { return pool_ != nullptr; }
  // For messages.
  const std::string& name() const;
  absl::StatusOr<std::unique_ptr<SqlDatabase>> Open(const SqlSchema& schema,
                                                    SqlOpening opening = SqlOpening::kPrepare) const;

  // Run `work` in one transaction over the tables of all stores, and once, whatever comes of it. For
  // PostgreSQL alone. Reading work sees the tables as they are when it begins, whatever others write
  // meanwhile; writing work takes effect if it returns ok, and no other work makes or drops tables meanwhile.
  absl::Status ReadAllStores(const SqlWork& work) const;
  absl::Status WriteAllStores(const SqlWork& work) const;

 private:
  std::string folder_ = {};
  std::shared_ptr<PostgresPool> pool_ = {};  // of all stores; null: SQLite
  SqlFence fence_ = {};                      // null: there is none
};

}  // namespace attune

#endif  // ATTUNE_BASE_SQL_SQL_DATABASE_H_
