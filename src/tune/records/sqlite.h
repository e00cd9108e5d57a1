// SQLite as Attune uses it: a connection, statements and transactions that clean up behind themselves, and
// errors that name the file and say what to do.
#ifndef ATTUNE_TUNE_RECORDS_SQLITE_H_
#define ATTUNE_TUNE_RECORDS_SQLITE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tune/records/sqlite_files.h"

struct sqlite3;
struct sqlite3_stmt;

namespace attune {

// What a database is opened for.
enum class DatabaseAccess {
  kRead,    // it must exist, and nothing is written to it; all is well where it may only be read
  kWrite,   // it must exist
  kCreate,  // it is made where it is missing
};

struct SqliteOptions {
  DatabaseAccess access = DatabaseAccess::kCreate;
  // For how long another process's lock is waited for, and after how long the log says so.
  std::chrono::milliseconds patience{60000}, notice{1000};
  // How faults are tested: the file cannot outgrow this many pages (0: no bound), and it is read and written
  // through the SQLite VFS of that name (empty: the system's).
  int64_t max_pages = 0;
  std::string vfs = {};
};

// An open database file. For one thread at a time, and not across fork(). The file may be hostile, and what
// lies beside it too: its triggers and views are off, no value is longer than 4 MiB, and no file but its own
// is touched (sqlite_files.h).
class SqliteConnection {
 public:
  // Fails where the file is a folder or a device, may not be opened, or is no database. What a writer that
  // was killed has left half done is undone, even if it is opened for reading.
  static absl::StatusOr<std::unique_ptr<SqliteConnection>> Open(const std::string& path,
                                                                const SqliteOptions& options);
  ~SqliteConnection();
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;

  const std::string& path() const { return path_; }
  bool is_read_only() const;
  // Rows that the last INSERT, UPDATE or DELETE changed.
  int64_t changes() const;

  // One statement, whose rows are dropped.
  absl::Status Execute(const std::string& sql);
  // The same, for what asks for a lock while it holds one. SQLite does not wait in that case, since the
  // holder of the other could be waiting for this one: it has to be begun again.
  absl::Status ExecutePatiently(const std::string& sql);
  // The single integer that a query gives; 0 where it gives no row.
  absl::StatusOr<int64_t> Integer(const std::string& sql);

  // What SQLite's result code `code` of the call just made means to a person.
  absl::Status Error(int code) const;

 private:
  friend class SqliteStatement;
  SqliteConnection(std::string path, std::unique_ptr<SqliteFiles> files, const SqliteOptions& options)
      : path_(std::move(path)), options_(options), files_(std::move(files)) {}
  absl::Status OpenFile(const std::string& name, int flags);
  absl::Status OpenToRead();
  absl::Status Configure();
  // A wait for another process's lock.
  struct LockWait {
    std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
    bool has_noticed = false;
  };
  // Sleeps a little and returns true, or false where the patience is at its end.
  bool GoOnWaiting(LockWait& wait) const;
  // SQLite's busy handler; the first of `calls` is 0.
  static int WaitBusy(void* connection, int calls);

  const std::string path_;
  const SqliteOptions options_;
  const std::unique_ptr<SqliteFiles> files_;
  LockWait busy_wait_;
  sqlite3* db_ = nullptr;
};

// A prepared statement of a connection, which must outlive it.
//
//   ASSIGN_OR_RETURN(SqliteStatement insert, SqliteStatement::Prepare(connection, "INSERT … VALUES (?, ?)"));
//   RETURN_IF_ERROR(insert.Run(name, count));
class SqliteStatement {
 public:
  static absl::StatusOr<SqliteStatement> Prepare(SqliteConnection& connection, const std::string& sql);

  // Sets the next parameter. What does not fit is Step()'s error.
  void Bind(int64_t value);
  void Bind(int value) { Bind(static_cast<int64_t>(value)); }
  void Bind(double value);
  void Bind(std::string_view value);

  // Begins anew with these parameters.
  template <typename... Values>
  void Start(const Values&... values) {
    Reset();
    (Bind(values), ...);
  }
  // Whether there is a (further) row.
  absl::StatusOr<bool> Step();
  // From the start to the end, with these parameters; rows are dropped. Gives back its locks.
  template <typename... Values>
  absl::Status Run(const Values&... values) {
    Start(values...);
    return Finish();
  }

  // Of the row that Step() found, by column from 0. Another type is converted; NULL is 0 or "".
  int64_t Integer(int column) const;
  double Real(int column) const;
  std::string Text(int column) const;

  void Reset();

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  SqliteStatement(SqliteConnection& connection, sqlite3_stmt* statement)
      : connection_(&connection), statement_(statement) {}
  absl::Status Finish();
  void Bound(int code);

  SqliteConnection* connection_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int bound_ = 0;
  int bind_error_ = 0;
};

// All that happens until Commit(), or nothing. One at a time.
class SqliteTransaction {
 public:
  // A writer takes its lock now, so that it cannot fail for another writer halfway; a reader sees the
  // database as it is at its first query, whatever others write.
  enum class Kind { kRead, kWrite };
  static absl::StatusOr<SqliteTransaction> Begin(SqliteConnection& connection, Kind kind);
  ~SqliteTransaction();
  SqliteTransaction(SqliteTransaction&& other) noexcept;
  SqliteTransaction& operator=(SqliteTransaction&&) = delete;

  absl::Status Commit();

 private:
  explicit SqliteTransaction(SqliteConnection* connection) : connection_(connection) {}
  SqliteConnection* connection_;  // null after Commit()
};

}  // namespace attune

#endif  // ATTUNE_TUNE_RECORDS_SQLITE_H_
