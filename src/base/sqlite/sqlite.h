// Attune's wrapper around SQLite: a connection, statements and transactions that clean up after themselves,
// and errors that name the file and say what to do.
#ifndef ATTUNE_BASE_SQLITE_SQLITE_H_
#define ATTUNE_BASE_SQLITE_SQLITE_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/sqlite/sqlite_files.h"

struct sqlite3;
struct sqlite3_stmt;

namespace attune {

// How a database is opened.
enum class DatabaseAccess {
  kRead,    // it must exist, and is not written; a read-only file is fine
  kWrite,   // it must exist
  kCreate,  // it is created if it is missing
};

// How messages speak of a database. The texts must be constants.
struct DatabaseWords {
  std::string_view what = "database";  // e.g. "record database"
  std::string_view flag = "";          // that names another file, e.g. "--records"; empty if there is none

  // Advice to end a message with.
  std::string NameAnother() const;
};

struct SqliteOptions {
  DatabaseAccess access = DatabaseAccess::kCreate;
  // How long to wait for another process's lock, and after how long to log the wait.
  std::chrono::milliseconds patience{60000}, notice{1000};
  // For testing faults: the file cannot outgrow this many pages (0: no bound), and it is accessed through
  // the SQLite VFS with this name (empty: the system's).
  int64_t max_pages = 0;
  std::string vfs = {};
};

// An open database file. For one thread at a time, and not across fork(). The file and the files beside it
// may be hostile: triggers and views are disabled, no value may be longer than 4 MiB, and only the
// database's own files are touched (sqlite_files.h).
class SqliteConnection {
 public:
  // Fails if the file is a folder or a device, cannot be opened, or is not a database. A transaction that a
  // killed writer has left unfinished is rolled back, even if the file is opened for reading.
  static absl::StatusOr<std::unique_ptr<SqliteConnection>> Open(const std::string& path,
                                                                const SqliteOptions& options,
                                                                const DatabaseWords& words = {});
  ~SqliteConnection();
  SqliteConnection(const SqliteConnection&) = delete;
  SqliteConnection& operator=(const SqliteConnection&) = delete;

  const std::string& path() const { return path_; }
  bool is_read_only() const;
  // The number of rows that the last INSERT, UPDATE or DELETE changed.
  int64_t changes() const;

  // Executes one statement, and drops its rows.
  absl::Status Execute(const std::string& sql);
  // Like Execute(), for a statement that needs a lock while it holds one. SQLite does not wait in that
  // case, since the holder of the other lock could be waiting for this one: the statement must be started
  // again.
  absl::Status ExecutePatiently(const std::string& sql);
  // The integer that a query returns; 0 if it returns no row.
  absl::StatusOr<int64_t> Integer(const std::string& sql);

  // Writes the database, as the transaction that is open sees it, to a new file at `path`, which is not
  // synced.
  absl::Status CopyTo(const std::string& path);

  // Explains SQLite's result code `code`, of the call just made, to a person.
  absl::Status Error(int code) const;

 private:
  friend class SqliteStatement;
  SqliteConnection(std::string path, std::unique_ptr<SqliteFiles> files, const SqliteOptions& options,
                   const DatabaseWords& words)
      : path_(std::move(path)), options_(options), words_(words), files_(std::move(files)) {}
  absl::Status OpenFile(const std::string& name, int flags);
  absl::Status OpenToRead();
  absl::Status Configure();
  // A wait for another process's lock.
  struct LockWait {
    std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
    bool has_noticed = false;
  };
  // Sleeps a little and returns true; returns false once the patience has run out.
  bool GoOnWaiting(LockWait& wait) const;
  // SQLite's busy handler; `calls` is 0 at the first call of a wait.
  static int WaitBusy(void* connection, int calls);

  const std::string path_;
  const SqliteOptions options_;
  const DatabaseWords words_;
  const std::unique_ptr<SqliteFiles> files_;
  LockWait busy_wait_;
  sqlite3* db_ = nullptr;
};

// Bytes to bind that are no text.
struct SqliteBlob {
  std::string_view bytes;
};

// A prepared statement. The connection must outlive it.
//
//   ASSIGN_OR_RETURN(SqliteStatement insert, SqliteStatement::Prepare(connection, "INSERT … VALUES (?, ?)"));
//   RETURN_IF_ERROR(insert.Run(name, count));
class SqliteStatement {
 public:
  static absl::StatusOr<SqliteStatement> Prepare(SqliteConnection& connection, const std::string& sql);

  // Sets the next parameter. If the value does not fit, Step() fails.
  void Bind(int64_t value);
  void Bind(int value) { Bind(static_cast<int64_t>(value)); }
  void Bind(double value);
  void Bind(std::string_view value);
  void Bind(SqliteBlob value);
  void BindNull();

  // Starts again with these parameters.
  template <typename... Values>
  void Start(const Values&... values) {
    Reset();
    (Bind(values), ...);
  }
  // Moves to the next row; returns whether there is one.
  absl::StatusOr<bool> Step();
  // Executes the whole statement with these parameters, drops its rows, and releases its locks.
  template <typename... Values>
  absl::Status Run(const Values&... values) {
    Start(values...);
    return Finish();
  }

  // The value in a column, from 0, of the row that Step() found. Other types are converted; NULL is 0 or
  // "".
  int64_t Integer(int column) const;
  double Real(int column) const;
  std::string Text(int column) const;
  std::string Bytes(int column) const;
  // The columns of the row that Step() found.
  int columns() const;
  // The type of a value in it: SQLITE_INTEGER and so on.
  int Type(int column) const;

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

// Everything up to Commit() takes effect, or nothing. One transaction at a time.
class SqliteTransaction {
 public:
  // A writer takes its lock at the beginning, so that it cannot fail halfway because of another writer; a
  // reader sees the database as of its first query, whatever others write.
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

#endif  // ATTUNE_BASE_SQLITE_SQLITE_H_
