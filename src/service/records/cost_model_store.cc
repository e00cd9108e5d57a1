#include "service/records/cost_model_store.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <variant>

#include "base/status.h"
#include "tune/records/record_json.h"
#include "tune/task/task_text.h"

namespace attune {
namespace {

constexpr std::array<std::string_view, 3> kStates = {"current", "replaced", "rolled_back"};

// `last_record`: the number of the latest record when the version was learned.
constexpr const char* kUp[] = {
    "CREATE TABLE cost_models (version INTEGER NOT NULL PRIMARY KEY, created_ms INTEGER NOT NULL, records "
    "INTEGER NOT NULL, tasks INTEGER NOT NULL, held_back INTEGER NOT NULL, ranking REAL NOT NULL, has_before "
    "INTEGER NOT NULL, ranking_before REAL NOT NULL, state INTEGER NOT NULL, last_record INTEGER NOT NULL, "
    "content TEXT NOT NULL) STRICT",
    "CREATE INDEX cost_models_by_state ON cost_models (state)",
    "CREATE TABLE learned_tasks (digest TEXT NOT NULL PRIMARY KEY, content TEXT NOT NULL) STRICT",
    "CREATE TABLE learned_records (number INTEGER PRIMARY KEY AUTOINCREMENT, tenant TEXT NOT NULL, digest "
    "TEXT NOT NULL, task TEXT NOT NULL, device TEXT NOT NULL, content TEXT NOT NULL, UNIQUE (tenant, "
    "digest))",
    "CREATE INDEX learned_records_by_tenant ON learned_records (tenant, number)",
    "CREATE INDEX learned_records_by_task ON learned_records (device, task, number)",
};
constexpr const char* kDown[] = {"DROP TABLE learned_records", "DROP TABLE learned_tasks",
                                 "DROP TABLE cost_models"};
constexpr SqlMigration kMigrations[] = {{.up = kUp, .down = kDown}};

// Older versions keep their figures, and not their trees.
constexpr int64_t kKeptTexts = 8;

absl::StatusOr<CostModelVersion> ReadVersion(const SqlRow& row) {
  CostModelVersion model;
  int column = 0;
  model.version = row.Integer(column++);
  model.created_ms = row.Integer(column++);
  model.records = row.Integer(column++);
  model.tasks = row.Integer(column++);
  model.held_back = row.Integer(column++);
  model.ranking = row.Real(column++);
  const bool has_before = row.Integer(column++) != 0;
  if (const double before = row.Real(column++); has_before) model.ranking_before = before;
  const int64_t state = row.Integer(column);
  if (state < 0 || state >= std::ssize(kStates)) return absl::DataLossError("an unknown state");
  model.state = static_cast<CostModelState>(state);
  return model;
}

absl::StatusOr<LearnedTask> ReadTask(const SqlRow& row) {
  return LearnedTask{.digest = row.Text(0), .last = row.Integer(1)};
}

// A record's row has its task's digest in place of the text, which may be long.
std::string ContentOf(const Record& record, const std::string& task_digest) {
  Record row = record;
  row.task = task_digest;
  return ToJsonLine(row);
}

std::optional<Record> RecordOf(const std::string& content, const std::string& task) {
  const auto parsed = ParseJsonLine(content);
  if (!parsed.ok() || !std::holds_alternative<Record>(*parsed)) return std::nullopt;
  Record record = std::get<Record>(*parsed);
  record.task = task;
  return record;
}

absl::Status RemoveUnusedTasks(SqlSession& session) {
  return Execute(session, "DELETE FROM learned_tasks WHERE digest NOT IN (SELECT task FROM learned_records)");
}

// Removes the records of the tenant that are too many, and tasks without records.
absl::Status RemoveOld(SqlSession& session, const std::string& tenant) {
  ASSIGN_OR_RETURN(const int64_t oldest,
                   ReadInteger(session,
                               "SELECT number FROM learned_records WHERE tenant = ? ORDER BY number DESC "
                               "LIMIT 1 OFFSET ?",
                               tenant, kMostRecordsOfTenant));
  ASSIGN_OR_RETURN(
      const int64_t removed,
      ChangeRows(session, "DELETE FROM learned_records WHERE tenant = ? AND number <= ?", tenant, oldest));
  return removed == 0 ? absl::OkStatus() : RemoveUnusedTasks(session);
}

}  // namespace

std::string_view Name(CostModelState state) { return kStates[static_cast<size_t>(state)]; }

const SqlSchema& CostModelSchema() {
  static constexpr SqlSchema kSchema = {.store = "cost_models",
                                        .file = "cost_models.db",
                                        .application_id = 0x4174436D,  // "AtCm"
                                        .migrations = kMigrations,
                                        .words = {.what = "database of cost models", .flag = "--state"}};
  return kSchema;
}

absl::StatusOr<std::unique_ptr<CostModelStore>> CostModelStore::Open(const SqlLocation& location) {
  ASSIGN_OR_RETURN(std::unique_ptr<SqlDatabase> database, location.Open(CostModelSchema()));
  return std::unique_ptr<CostModelStore>(new CostModelStore(std::move(database)));
}

absl::StatusOr<int64_t> CostModelStore::Add(const CostModelVersion& model, const std::string& text) {
  return database_->Write([&](SqlSession& session) -> absl::StatusOr<int64_t> {
    ASSIGN_OR_RETURN(const int64_t latest, ReadInteger(session, "SELECT max(version) FROM cost_models"));
    ASSIGN_OR_RETURN(const int64_t last, ReadInteger(session, "SELECT max(number) FROM learned_records"));
    const int64_t version = latest + 1;
    constexpr auto kCurrent = static_cast<int64_t>(CostModelState::kCurrent);
    if (model.state == CostModelState::kCurrent)
      RETURN_IF_ERROR(Execute(session, "UPDATE cost_models SET state = ? WHERE state = ?",
                              static_cast<int64_t>(CostModelState::kReplaced), kCurrent));
    RETURN_IF_ERROR(Execute(session, "INSERT INTO cost_models VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                            version, model.created_ms, model.records, model.tasks, model.held_back,
                            model.ranking, int64_t{model.ranking_before.has_value()},
                            model.ranking_before.value_or(0), static_cast<int64_t>(model.state), last, text));
    RETURN_IF_ERROR(Execute(session, "UPDATE cost_models SET content = '' WHERE version <= ? AND state <> ?",
                            version - kKeptTexts, kCurrent));
    return version;
  });
}

absl::StatusOr<std::vector<CostModelVersion>> CostModelStore::Versions(int64_t most) {
  return ReadSoundRows(*database_, ReadVersion,
                       "SELECT version, created_ms, records, tasks, held_back, ranking, has_before, "
                       "ranking_before, state FROM cost_models ORDER BY version DESC LIMIT ?",
                       most);
}

absl::StatusOr<std::optional<std::string>> CostModelStore::Current() {
  return ReadRow(*database_, ReadText, "SELECT content FROM cost_models WHERE state = ?",
                 static_cast<int64_t>(CostModelState::kCurrent));
}

absl::Status CostModelStore::AddRecords(const std::string& tenant, std::span<const Record> records) {
  return database_->Write([&](SqlSession& session) -> absl::Status {
    for (const Record& record : records) {
      const std::string task = TaskDigest(record.task);
      ASSIGN_OR_RETURN(
          const int64_t added,
          ChangeRows(session,
                     "INSERT INTO learned_records (tenant, digest, task, device, content) VALUES "
                     "(?, ?, ?, ?, ?) ON CONFLICT (tenant, digest) DO NOTHING",
                     tenant, RecordDigest(record), task, record.device, ContentOf(record, task)));
      if (added == 0) continue;
      RETURN_IF_ERROR(Execute(session,
                              "INSERT INTO learned_tasks VALUES (?, ?) ON CONFLICT (digest) DO NOTHING", task,
                              record.task));
    }
    return RemoveOld(session, tenant);
  });
}

absl::StatusOr<CostModelStore::Count> CostModelStore::CountRecords() {
  return database_->Read([&](SqlSession& session) -> absl::StatusOr<Count> {
    Count count;
    ASSIGN_OR_RETURN(count.all, ReadInteger(session, "SELECT count(*) FROM learned_records"));
    ASSIGN_OR_RETURN(count.since_latest,
                     ReadInteger(session,
                                 "SELECT count(*) FROM learned_records WHERE number > (SELECT "
                                 "coalesce(max(last_record), 0) FROM cost_models)"));
    return count;
  });
}

absl::StatusOr<std::vector<std::string>> CostModelStore::Tenants() {
  return ReadRows(*database_, ReadText, "SELECT DISTINCT tenant FROM learned_records ORDER BY tenant");
}

absl::Status CostModelStore::RemoveTenant(const std::string& tenant) {
  return database_->Write([&](SqlSession& session) -> absl::Status {
    RETURN_IF_ERROR(Execute(session, "DELETE FROM learned_records WHERE tenant = ?", tenant));
    return RemoveUnusedTasks(session);
  });
}

absl::StatusOr<std::vector<LearnedTask>> CostModelStore::Tasks(const std::string& device, int64_t most) {
  return ReadSoundRows(
      *database_, ReadTask,
      "SELECT task, max(number) FROM learned_records WHERE device = ? GROUP BY task ORDER BY "
      "max(number) DESC LIMIT ?",
      device, most);
}

absl::StatusOr<std::vector<Record>> CostModelStore::Records(const std::string& task,
                                                            const std::string& device, int64_t most) {
  return database_->Read([&](SqlSession& session) -> absl::StatusOr<std::vector<Record>> {
    ASSIGN_OR_RETURN(const std::optional<std::string> text,
                     ReadRow(session, ReadText, "SELECT content FROM learned_tasks WHERE digest = ?", task));
    std::vector<Record> records;
    if (!text) return records;
    ASSIGN_OR_RETURN(const std::vector<std::string> rows,
                     ReadRows(session, ReadText,
                              "SELECT content FROM learned_records WHERE device = ? AND task = ? ORDER BY "
                              "number DESC LIMIT ?",
                              device, task, most));
    for (const std::string& row : rows)
      if (std::optional<Record> record = RecordOf(row, *text)) records.push_back(*std::move(record));
    std::ranges::reverse(records);
    return records;
  });
}

}  // namespace attune
