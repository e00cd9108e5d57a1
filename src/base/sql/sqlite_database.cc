// The tables of a store in an SQLite file, with connections for several threads.
#include <sqlite3.h>

#include <chrono>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/overloaded.h"
#include "base/sql/sql_database.h"
#include "base/sql/sql_errors.h"
#include "base/sqlite/sqlite_schema.h"
#include "base/status.h"

namespace attune {
namespace {

SqlRow RowOf(const SqliteStatement& statement) {
  std::vector<SqlValue> values;
  for (int column = 0; column < statement.columns(); ++column) {
    switch (statement.Type(column)) {
      case SQLITE_INTEGER:
        values.push_back(statement.Integer(column));
        break;
      case SQLITE_FLOAT:
        values.push_back(statement.Real(column));
        break;
      case SQLITE_BLOB:
        values.push_back(SqlBytes{.bytes = statement.Bytes(column)});
        break;
      case SQLITE_NULL:
        values.push_back(SqlNull{});
        break;
      default:
        values.push_back(statement.Text(column));
    }
  }
  return SqlRow(std::move(values));
}

class SqliteSession final : public SqlSession {
 public:
  explicit SqliteSession(SqliteConnection& connection) : connection_(connection) {}

  const std::string& name() const override { return connection_.path(); }

  absl::StatusOr<SqlAnswer> Execute(const std::string& sql, const std::vector<SqlValue>& values) override {
    ASSIGN_OR_RETURN(SqliteStatement statement, SqliteStatement::Prepare(connection_, sql));
    statement.Reset();
    for (const SqlValue& value : values) {
      std::visit(
          Overloaded{[&](const SqlBytes& bytes) { statement.Bind(SqliteBlob{.bytes = bytes.bytes}); },
                     [&](const std::string& text) { statement.Bind(std::string_view(text)); },
                     [&](SqlNull) { statement.BindNull(); }, [&](auto number) { statement.Bind(number); }},
          value);
    }
    SqlAnswer answer;
    for (;;) {
      ASSIGN_OR_RETURN(const bool is_row, statement.Step());
      if (!is_row) break;
      answer.rows.push_back(RowOf(statement));
    }
    answer.changed = connection_.changes();
    return answer;
  }

 private:
  SqliteConnection& connection_;
};

// Both forms of the same tables' steps.
struct SqliteSteps {
  explicit SqliteSteps(const SqlSchema& schema) {
    for (int version = 0; version < schema.version(); ++version) {
      for (const char* statement : schema.migrations[version].up) {
        statements.push_back(statement);
        if (version > 0) upgrades.push_back({.from = version, .statement = statement});
      }
    }
  }
  SqliteSchema For(const SqlSchema& schema) const {
    return {.application_id = schema.application_id,
            .version = static_cast<int>(schema.version()),
            .statements = statements,
            .upgrades = upgrades,
            .words = schema.words};
  }

  std::vector<const char*> statements;
  std::vector<SqliteUpgrade> upgrades;
};

class SqliteDatabase final : public SqlDatabase {
 public:
  SqliteDatabase(std::string path, const SqlSchema& schema) : path_(std::move(path)), schema_(schema) {}

  const std::string& name() const override { return path_; }

  absl::Status Prepare() {
    const SqliteSteps steps(schema_);
    const SqliteSchema schema = steps.For(schema_);
    RETURN_IF_ERROR(MakeFoldersOf(path_, schema));
    ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> connection,
                     SqliteConnection::Open(path_, {}, schema_.words));
    RETURN_IF_ERROR(PrepareDatabase(*connection, schema, DatabaseAccess::kCreate));
    RETURN_IF_ERROR(SetSynchronous(*connection));
    GiveBack(std::move(connection));
    return absl::OkStatus();
  }

  absl::Status CheckWritable() override {
    // On a connection of its own, since the others wait for another process's lock as long as it takes.
    constexpr std::chrono::milliseconds kPatience(500);
    ASSIGN_OR_RETURN(const auto connection,
                     SqliteConnection::Open(path_, {.patience = kPatience}, schema_.words));
    return SqliteTransaction::Begin(*connection, SqliteTransaction::Kind::kWrite).status();
  }

  absl::StatusOr<int64_t> Version() override {
    ASSIGN_OR_RETURN(const std::unique_ptr<SqliteConnection> connection, OpenExisting());
    return connection->Integer("PRAGMA user_version");
  }

  absl::Status Migrate(int64_t version) override {
    ASSIGN_OR_RETURN(const std::unique_ptr<SqliteConnection> connection, OpenExisting());
    ASSIGN_OR_RETURN(SqliteTransaction transaction,
                     SqliteTransaction::Begin(*connection, SqliteTransaction::Kind::kWrite));
    ASSIGN_OR_RETURN(const int64_t from, connection->Integer("PRAGMA user_version"));
    RETURN_IF_ERROR(CheckVersion(path_, schema_, from));
    SqliteSession session(*connection);
    RETURN_IF_ERROR(ExecuteMigrations(session, schema_, from, version));
    RETURN_IF_ERROR(connection->Execute(absl::StrCat("PRAGMA user_version = ", version)));
    return transaction.Commit();
  }

 protected:
  absl::Status RunReading(const Step& step) override { return CountedSqlError(ReadOnce(step)); }

  absl::Status RunWriting(const Step& step) override { return CountedSqlError(WriteOnce(step)); }

 private:
  absl::Status ReadOnce(const Step& step) {
    ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> connection, Take());
    SqliteSession session(*connection);
    const absl::Status ran = step(session);
    GiveBack(std::move(connection));
    return ran;
  }

  absl::Status WriteOnce(const Step& step) {
    const std::lock_guard<std::mutex> writing(write_mutex_);
    ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> connection, Take());
    const absl::Status ran = Transact(*connection, step);
    GiveBack(std::move(connection));
    return ran;
  }

  static absl::Status Transact(SqliteConnection& connection, const Step& step) {
    ASSIGN_OR_RETURN(SqliteTransaction transaction,
                     SqliteTransaction::Begin(connection, SqliteTransaction::Kind::kWrite));
    SqliteSession session(connection);
    RETURN_IF_ERROR(step(session));
    return transaction.Commit();
  }

  absl::Status SetSynchronous(SqliteConnection& connection) const {
    return connection.Execute(schema_.waits_for_disk ? "PRAGMA synchronous = FULL"
                                                     : "PRAGMA synchronous = NORMAL");
  }

  absl::StatusOr<std::unique_ptr<SqliteConnection>> OpenExisting() const {
    ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> connection,
                     SqliteConnection::Open(path_, {.access = DatabaseAccess::kWrite}, schema_.words));
    ASSIGN_OR_RETURN(const int64_t application, connection->Integer("PRAGMA application_id"));
    if (application == schema_.application_id) return connection;
    return absl::FailedPreconditionError(absl::StrCat(path_, ": is not a ", schema_.words.what));
  }

  // A connection that no other thread has.
  absl::StatusOr<std::unique_ptr<SqliteConnection>> Take() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<SqliteConnection> connection = std::move(idle_.back());
        idle_.pop_back();
        return connection;
      }
    }
    ASSIGN_OR_RETURN(std::unique_ptr<SqliteConnection> connection,
                     SqliteConnection::Open(path_, {.access = DatabaseAccess::kWrite}, schema_.words));
    RETURN_IF_ERROR(SetSynchronous(*connection));
    return connection;
  }

  void GiveBack(std::unique_ptr<SqliteConnection> connection) {
    constexpr size_t kMostIdle = 8;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (idle_.size() < kMostIdle) idle_.push_back(std::move(connection));
  }

  const std::string path_;
  const SqlSchema schema_;
  std::mutex write_mutex_;  // threads take turns here, and not by SQLite's waits
  std::mutex mutex_;
  std::vector<std::unique_ptr<SqliteConnection>> idle_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<SqlDatabase>> OpenSqlite(const std::string& path, const SqlSchema& schema,
                                                        SqlOpening opening) {
  auto database = std::make_unique<SqliteDatabase>(path, schema);
  if (opening == SqlOpening::kPrepare) RETURN_IF_ERROR(database->Prepare());
  return database;
}

}  // namespace attune
