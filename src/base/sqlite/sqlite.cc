#include "base/sqlite/sqlite.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/face.h"
#include "base/log.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr int kMaxValueBytes = 1 << 22;

// SQLite itself does not check what it opens; a folder or a device would cause strange errors later.
absl::Status CheckIsFile(const std::string& path, bool create, const DatabaseWords& words) {
  if (path.empty()) return InvalidInput("no database file is named");
  struct stat info;
  if (stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT && create) return absl::OkStatus();
    if (errno == ENOENT) return MissingFile(path, ": there is no such database; ", words.NameAnother());
    return absl::FailedPreconditionError(absl::StrCat(path, ": cannot be opened: ", std::strerror(errno)));
  }
  if (S_ISREG(info.st_mode)) return absl::OkStatus();
  return InvalidInput(path, ": is a ", S_ISDIR(info.st_mode) ? "folder" : "device", ", not a database file");
}

// The write-ahead log needs files beside the database. If they cannot be created and none has any content,
// the database file alone is complete, and we can tell SQLite so.
bool CanBeReadAlone(const std::string& path) {
  for (const char* suffix : {"-wal", "-journal"}) {
    struct stat info;
    if (lstat((path + suffix).c_str(), &info) == 0 && info.st_size > 0) return false;
  }
  return true;
}

std::string ImmutableUri(const std::string& path) {
  std::string uri = "file:";
  for (char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      absl::StrAppend(&uri, "%", absl::Hex(static_cast<unsigned char>(c), absl::kZeroPad2));
    } else {
      uri += c;
    }
  }
  return uri + "?immutable=1";
}

// SQLite takes a null pointer as NULL, which is different from an empty text or blob.
const char* DataOf(std::string_view value) { return value.empty() ? "" : value.data(); }

}  // namespace

std::string DatabaseWords::NameAnother() const {
  if (flag.empty()) return "name another database";
  constexpr size_t kDashes = 2;
  return absl::StrCat("name another database with ", NameAsGiven(flag, flag.substr(kDashes)));
}

absl::StatusOr<std::unique_ptr<SqliteConnection>> SqliteConnection::Open(const std::string& path,
                                                                         const SqliteOptions& options,
                                                                         const DatabaseWords& words) {
  RETURN_IF_ERROR(CheckIsFile(path, options.access == DatabaseAccess::kCreate, words));
  ASSIGN_OR_RETURN(std::unique_ptr<SqliteFiles> files, SqliteFiles::Create(options.vfs));
  std::unique_ptr<SqliteConnection> connection(new SqliteConnection(path, std::move(files), options, words));
  if (options.access == DatabaseAccess::kRead) {
    RETURN_IF_ERROR(connection->OpenToRead());
  } else {
    const int create = options.access == DatabaseAccess::kCreate ? SQLITE_OPEN_CREATE : 0;
    RETURN_IF_ERROR(connection->OpenFile(path, SQLITE_OPEN_READWRITE | create));
  }
  return connection;
}

absl::Status SqliteConnection::OpenToRead() {
  absl::Status status = OpenFile(path_, SQLITE_OPEN_READONLY);
  // A killed writer has left a journal: rolling back its transaction requires writing.
  if (!status.ok() && sqlite3_extended_errcode(db_) == SQLITE_READONLY_ROLLBACK) {
    status = OpenFile(path_, SQLITE_OPEN_READWRITE);
    if (status.ok()) status = OpenFile(path_, SQLITE_OPEN_READONLY);
  }
  if (absl::IsPermissionDenied(status) && CanBeReadAlone(path_))
    status = OpenFile(ImmutableUri(path_), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
  return status;
}

absl::Status SqliteConnection::OpenFile(const std::string& name, int flags) {
  sqlite3_close(db_);
  db_ = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &db_, flags | SQLITE_OPEN_NOMUTEX, files_->vfs_name());
  if (code != SQLITE_OK) return Error(code);
  return Configure();
}

absl::Status SqliteConnection::Configure() {
  sqlite3_extended_result_codes(db_, 1);
  sqlite3_busy_handler(db_, &SqliteConnection::WaitBusy, this);
  sqlite3_limit(db_, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
  sqlite3_limit(db_, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(db_, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr);
  RETURN_IF_ERROR(Execute("PRAGMA cell_size_check = ON"));
  if (options_.max_pages > 0)
    RETURN_IF_ERROR(Execute(absl::StrCat("PRAGMA max_page_count = ", options_.max_pages)));
  // The first access to the file.
  return Execute("SELECT count(*) FROM sqlite_schema");
}

SqliteConnection::~SqliteConnection() { sqlite3_close(db_); }

// SQLite's own waits grow to a tenth of a second, in which a writer in a loop would overtake the others
// again and again. These waits are short, and differ between processes.
bool SqliteConnection::GoOnWaiting(LockWait& wait) const {
  const auto now = std::chrono::steady_clock::now();
  const auto waited = now - wait.since;
  if (waited >= options_.patience) return false;
  if (waited >= options_.notice && !wait.has_noticed) {
    wait.has_noticed = true;
    Log(LogLevel::kWarning, "waiting for another process that has locked the database", "file", path_,
        "at_most_s", options_.patience.count() / 1000);
  }
  std::this_thread::sleep_for(std::chrono::microseconds(500 + now.time_since_epoch().count() / 1000 % 4000));
  return true;
}

int SqliteConnection::WaitBusy(void* connection, int calls) {
  auto* self = static_cast<SqliteConnection*>(connection);
  if (calls == 0) self->busy_wait_ = {};
  return self->GoOnWaiting(self->busy_wait_) ? 1 : 0;
}

bool SqliteConnection::is_read_only() const { return sqlite3_db_readonly(db_, "main") == 1; }
int64_t SqliteConnection::changes() const { return sqlite3_changes64(db_); }

absl::Status SqliteConnection::Execute(const std::string& sql) {
  ASSIGN_OR_RETURN(SqliteStatement statement, SqliteStatement::Prepare(*this, sql));
  return statement.Run();
}

absl::Status SqliteConnection::ExecutePatiently(const std::string& sql) {
  LockWait wait;
  while (true) {
    absl::Status status = Execute(sql);
    if (!absl::IsUnavailable(status) || !GoOnWaiting(wait)) return status;
  }
}

absl::StatusOr<int64_t> SqliteConnection::Integer(const std::string& sql) {
  ASSIGN_OR_RETURN(SqliteStatement statement, SqliteStatement::Prepare(*this, sql));
  ASSIGN_OR_RETURN(const bool row, statement.Step());
  return row ? statement.Integer(0) : 0;
}

absl::Status SqliteConnection::Error(int code) const {
  if (const std::string refusal = files_->TakeRefusal(); !refusal.empty())
    return InvalidInput(path_, ": ", refusal, "; remove it, or ", words_.NameAnother());
  const std::string_view detail = db_ == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(db_);
  const int error = db_ == nullptr ? 0 : sqlite3_system_errno(db_);
  const std::string reason = error == 0 ? std::string(detail) : std::string(std::strerror(error));
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return absl::ResourceExhaustedError(absl::StrCat(
          path_, ": cannot grow: the disk is full; free some space and try again, what it holds is safe"));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
      return absl::UnavailableError(absl::StrCat(path_, ": another process has kept it locked for ",
                                                 options_.patience.count() / 1000,
                                                 " s; let that one finish and try again"));
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return absl::PermissionDeniedError(absl::StrCat(
          path_, ": cannot be written: the file or its folder is read-only; ", words_.NameAnother()));
    case SQLITE_CANTOPEN:
      return absl::PermissionDeniedError(absl::StrCat(
          path_, ": cannot be opened, or its folder not be written: ", reason, "; ", words_.NameAnother()));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return absl::DataLossError(absl::StrCat(path_, ": is damaged or no database (", detail,
                                              "); move it away and a new one is made"));
    case SQLITE_IOERR:
      return absl::FailedPreconditionError(
          absl::StrCat(path_, ": cannot be read or written: ", reason, "; see to the disk and try again"));
    case SQLITE_NOMEM:
      return absl::ResourceExhaustedError(absl::StrCat(path_, ": out of memory"));
    case SQLITE_TOOBIG:
      return InvalidInput(path_, ": a value is longer than ", kMaxValueBytes, " bytes");
    default:
      // A table or column is missing: Attune has not written this file.
      return absl::DataLossError(absl::StrCat(path_, ": is not a ", words_.what, " or damaged (", detail,
                                              "); ", words_.NameAnother()));
  }
}

absl::Status SqliteConnection::CopyTo(const std::string& path) {
  constexpr int kPagesAtOnce = 1024;
  sqlite3* copy = nullptr;
  int code = sqlite3_open_v2(path.c_str(), &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  sqlite3_backup* backup = code == SQLITE_OK ? sqlite3_backup_init(copy, "main", db_, "main") : nullptr;
  if (backup != nullptr) {
    while ((code = sqlite3_backup_step(backup, kPagesAtOnce)) == SQLITE_OK) {
    }
    sqlite3_backup_finish(backup);
  }
  const std::string reason = copy == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(copy);
  sqlite3_close(copy);
  if (code == SQLITE_DONE) return absl::OkStatus();
  if ((code & 0xFF) == SQLITE_FULL)
    return absl::ResourceExhaustedError(
        absl::StrCat(path, ": cannot grow: the disk is full; free some space and try again"));
  return absl::FailedPreconditionError(absl::StrCat(path_, ": cannot be copied to ", path, ": ", reason));
}

void SqliteStatement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

absl::StatusOr<SqliteStatement> SqliteStatement::Prepare(SqliteConnection& connection,
                                                         const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v2(connection.db_, sql.c_str(), static_cast<int>(sql.size()), &statement, nullptr);
  if (code != SQLITE_OK) return connection.Error(code);
  return SqliteStatement(connection, statement);
}

void SqliteStatement::Bind(int64_t value) { Bound(sqlite3_bind_int64(statement_.get(), ++bound_, value)); }
void SqliteStatement::Bind(double value) { Bound(sqlite3_bind_double(statement_.get(), ++bound_, value)); }
void SqliteStatement::Bind(std::string_view value) {
  Bound(sqlite3_bind_text64(statement_.get(), ++bound_, DataOf(value), value.size(), SQLITE_TRANSIENT,
                            SQLITE_UTF8));
}
void SqliteStatement::Bind(SqliteBlob value) {
  Bound(sqlite3_bind_blob64(statement_.get(), ++bound_, DataOf(value.bytes), value.bytes.size(),
                            SQLITE_TRANSIENT));
}
void SqliteStatement::BindNull() { Bound(sqlite3_bind_null(statement_.get(), ++bound_)); }
void SqliteStatement::Bound(int code) {
  if (bind_error_ == SQLITE_OK) bind_error_ = code;
}

absl::StatusOr<bool> SqliteStatement::Step() {
  if (bind_error_ != 0) return connection_->Error(bind_error_);
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return connection_->Error(code);
}

absl::Status SqliteStatement::Finish() {
  while (true) {
    const absl::StatusOr<bool> row = Step();
    if (row.ok() && *row) continue;
    Reset();
    return row.status();
  }
}

int64_t SqliteStatement::Integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double SqliteStatement::Real(int column) const { return sqlite3_column_double(statement_.get(), column); }
std::string SqliteStatement::Text(int column) const {
  const unsigned char* text = sqlite3_column_text(statement_.get(), column);
  if (text == nullptr) return "";
  return {reinterpret_cast<const char*>(text),
          static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}
std::string SqliteStatement::Bytes(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  if (bytes == nullptr) return "";
  return {static_cast<const char*>(bytes),
          static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

int SqliteStatement::columns() const { return sqlite3_data_count(statement_.get()); }
int SqliteStatement::Type(int column) const { return sqlite3_column_type(statement_.get(), column); }

void SqliteStatement::Reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
  bound_ = 0;
  bind_error_ = 0;
}

absl::StatusOr<SqliteTransaction> SqliteTransaction::Begin(SqliteConnection& connection, Kind kind) {
  RETURN_IF_ERROR(connection.Execute(kind == Kind::kWrite ? "BEGIN IMMEDIATE" : "BEGIN"));
  return SqliteTransaction(&connection);
}

SqliteTransaction::SqliteTransaction(SqliteTransaction&& other) noexcept
    : connection_(std::exchange(other.connection_, nullptr)) {}

SqliteTransaction::~SqliteTransaction() {
  // Fails if an error has already ended the transaction; then there is nothing to roll back.
  if (connection_ != nullptr) connection_->Execute("ROLLBACK").IgnoreError();
}

absl::Status SqliteTransaction::Commit() {
  RETURN_IF_ERROR(connection_->Execute("COMMIT"));
  connection_ = nullptr;
  return absl::OkStatus();
}

}  // namespace attune
