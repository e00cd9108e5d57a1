#include "tune/records/database.h"

#include <thread>

#include "absl/strings/str_cat.h"
#include "base/face.h"
#include "base/sqlite/sqlite_schema.h"
#include "base/status.h"
#include "base/user_path.h"
#include "tune/records/database_rows.h"
#include "tune/records/record_json.h"

namespace attune {
namespace {

// Identifies the file as ours, and gives the version of its tables.
constexpr int64_t kApplicationId = 0x4174756E;  // "Atun"
constexpr int kTablesVersion = 1;

// Each task's text is stored once. The first index finds a task's records, failures and best ones, and
// contains all columns that the search for every task's best record reads.
constexpr const char* kTables[] = {
    "CREATE TABLE tasks (id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, text TEXT NOT NULL, flops REAL "
    "NOT "
    "NULL) STRICT",
    "CREATE TABLE records (id INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, task INTEGER NOT NULL, "
    "strategy TEXT NOT NULL, strategy_version INTEGER NOT NULL, config TEXT NOT NULL, device TEXT NOT NULL, "
    "threads INTEGER NOT NULL, outcome TEXT NOT NULL, seconds REAL NOT NULL, low REAL NOT NULL, high REAL "
    "NOT NULL, "
    "repetitions INTEGER NOT NULL, reason TEXT NOT NULL, run TEXT NOT NULL, trial INTEGER NOT NULL, "
    "search TEXT NOT NULL, compiler TEXT NOT NULL, code_digest TEXT NOT NULL, cache TEXT NOT NULL, "
    "time_ms INTEGER NOT NULL, build_seconds REAL NOT NULL, measure_seconds REAL NOT NULL) STRICT",
    "CREATE INDEX records_by_task ON records (task, device, threads, outcome, seconds, cache, strategy, "
    "strategy_version)",
    "CREATE INDEX records_by_run ON records (run)",
    "CREATE TABLE runs (id TEXT NOT NULL PRIMARY KEY, model TEXT NOT NULL, model_digest TEXT NOT NULL, "
    "device TEXT "
    "NOT NULL, threads INTEGER NOT NULL, options TEXT NOT NULL, start_ms INTEGER NOT NULL, end_ms INTEGER "
    "NOT NULL, "
    "state TEXT NOT NULL, untuned_seconds REAL NOT NULL, tuned_seconds REAL NOT NULL, stage_seconds TEXT NOT "
    "NULL) "
    "STRICT",
};

// Adds rows within a transaction.
class Writer {
 public:
  static absl::StatusOr<Writer> Make(SqliteConnection& connection) {
    ASSIGN_OR_RETURN(SqliteStatement find,
                     SqliteStatement::Prepare(connection, "SELECT id, flops FROM tasks WHERE digest = ?"));
    ASSIGN_OR_RETURN(
        SqliteStatement add_task,
        SqliteStatement::Prepare(connection,
                                 "INSERT INTO tasks (digest, text, flops) VALUES (?, ?, ?) RETURNING id"));
    ASSIGN_OR_RETURN(
        SqliteStatement add_record,
        SqliteStatement::Prepare(connection,
                                 "INSERT INTO records VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
                                 "?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (digest) DO NOTHING"));
    return Writer(connection, std::move(find), std::move(add_task), std::move(add_record));
  }

  // Adds a normalized record; returns whether it is new.
  absl::StatusOr<bool> Add(const Record& r) {
    ASSIGN_OR_RETURN(const int64_t task, TaskId(r));
    RETURN_IF_ERROR(add_record_.Run(RecordDigest(r), task, r.strategy, r.strategy_version,
                                    ConfigToJson(r.config), r.device, r.threads, Name(r.outcome),
                                    r.timing.seconds, r.timing.low, r.timing.high, r.timing.repetitions,
                                    r.reason, r.run, r.trial, r.search, r.compiler_version, r.code_digest,
                                    Name(r.cache), r.time_ms, r.build_seconds, r.measure_seconds));
    return connection_->changes() > 0;
  }

 private:
  Writer(SqliteConnection& connection, SqliteStatement find, SqliteStatement add_task,
         SqliteStatement add_record)
      : connection_(&connection),
        find_task_(std::move(find)),
        add_task_(std::move(add_task)),
        add_record_(std::move(add_record)) {}

  absl::StatusOr<int64_t> TaskId(const Record& r) {
    const std::string digest = TaskDigest(r.task);
    find_task_.Start(digest);
    ASSIGN_OR_RETURN(const bool found, find_task_.Step());
    SqliteStatement& row = found ? find_task_ : add_task_;
    if (!found) {
      add_task_.Start(digest, r.task, r.flops);
      RETURN_IF_ERROR(add_task_.Step().status());
    }
    const int64_t id = row.Integer(0);
    const bool learns_flops = found && row.Real(1) < r.flops;
    find_task_.Reset();
    add_task_.Reset();
    if (!learns_flops) return id;
    ASSIGN_OR_RETURN(SqliteStatement update,
                     SqliteStatement::Prepare(*connection_, "UPDATE tasks SET flops = ? WHERE id = ?"));
    RETURN_IF_ERROR(update.Run(r.flops, id));
    return id;
  }

  SqliteConnection* connection_;
  SqliteStatement find_task_, add_task_, add_record_;
};

constexpr SqliteSchema kSchema = {.application_id = kApplicationId,
                                  .version = kTablesVersion,
                                  .statements = kTables,
                                  .words = {.what = "record database", .flag = "--records"}};

}  // namespace

absl::StatusOr<std::string> DefaultRecordsPath(const std::function<const char*(const char*)>& environment) {
  std::optional<std::string> path = FindUserPath({.variable = "ATTUNE_RECORDS",
                                                  .xdg_variable = "XDG_DATA_HOME",
                                                  .home_folder = ".local/share",
                                                  .name = "attune/records.db"},
                                                 environment);
  if (path) return *std::move(path);
  return absl::NotFoundError(absl::StrCat("there is no home folder to keep records in; name a file with ",
                                          NameAsGiven("--records", "records")));
}

absl::StatusOr<std::unique_ptr<RecordDatabase>> RecordDatabase::Open(const std::string& path,
                                                                     const SqliteOptions& options) {
  if (options.access == DatabaseAccess::kCreate) RETURN_IF_ERROR(MakeFoldersOf(path, kSchema));
  ASSIGN_OR_RETURN(auto connection, SqliteConnection::Open(path, options, kSchema.words));
  std::unique_ptr<RecordDatabase> database(new RecordDatabase(std::move(connection)));
  RETURN_IF_ERROR(PrepareDatabase(*database->connection_, kSchema, options.access));
  return database;
}

absl::StatusOr<int64_t> RecordDatabase::Add(std::span<const Record> records) {
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(Writer writer, Writer::Make(*connection_));
  ASSIGN_OR_RETURN(SqliteTransaction transaction,
                   SqliteTransaction::Begin(*connection_, SqliteTransaction::Kind::kWrite));
  int64_t added = 0;
  for (const Record& record : records) {
    Record normalized = record;
    RETURN_IF_ERROR(Annotate(Normalize(normalized), path()));
    ASSIGN_OR_RETURN(const bool is_new, writer.Add(normalized));
    added += is_new ? 1 : 0;
  }
  RETURN_IF_ERROR(transaction.Commit());
  return added;
}

}  // namespace attune
