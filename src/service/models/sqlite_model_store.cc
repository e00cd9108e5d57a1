#include "service/models/sqlite_model_store.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/sqlite/sqlite_rows.h"
#include "base/sqlite/sqlite_schema.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr const char* kTables[] = {
    "CREATE TABLE models (tenant TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, source TEXT NOT NULL, "
    "created_ms INTEGER NOT NULL, state TEXT NOT NULL, facts TEXT NOT NULL, error TEXT NOT NULL, program "
    "TEXT "
    "NOT NULL, PRIMARY KEY (tenant, id)) STRICT",
    "CREATE INDEX models_by_time ON models (tenant, created_ms)",
    "CREATE INDEX models_by_state ON models (state)",
};
constexpr SqliteSchema kSchema = {.application_id = 0x4174536d,  // "AtSm"
                                  .version = 1,
                                  .statements = kTables,
                                  .words = {.what = "database of models", .flag = "--state"}};
constexpr std::string_view kSelect =
    "SELECT tenant, id, name, source, created_ms, state, facts, error, program FROM models WHERE ";
constexpr std::array<std::string_view, 3> kStates = {"importing", "ready", "refused"};

absl::StatusOr<KnownModel> ReadModel(const SqliteStatement& row) {
  const auto state = std::ranges::find(kStates, row.Text(5));
  if (state == kStates.end()) return InvalidInput("a model in no state");
  ASSIGN_OR_RETURN(ModelSource source, ModelSourceOf(row.Text(3)));
  return KnownModel{.tenant = row.Text(0),
                    .id = row.Text(1),
                    .name = row.Text(2),
                    .source = std::move(source),
                    .created_ms = row.Integer(4),
                    .verdict = {.state = static_cast<ModelState>(std::distance(kStates.begin(), state)),
                                .facts = row.Text(6),
                                .error = row.Text(7),
                                .program = row.Text(8)}};
}

using TenantAndId = std::pair<std::string, std::string>;
absl::StatusOr<TenantAndId> ReadTenantAndId(const SqliteStatement& row) {
  return TenantAndId(row.Text(0), row.Text(1));
}
absl::StatusOr<int64_t> ReadNumber(const SqliteStatement& row) { return row.Integer(0); }

}  // namespace

std::string_view Name(ModelState state) { return kStates[static_cast<size_t>(state)]; }

absl::StatusOr<std::unique_ptr<SqliteModelStore>> SqliteModelStore::Open(const std::string& path) {
  RETURN_IF_ERROR(MakeFoldersOf(path, kSchema));
  ASSIGN_OR_RETURN(auto connection, SqliteConnection::Open(path, {}, kSchema.words));
  RETURN_IF_ERROR(PrepareDatabase(*connection, kSchema, DatabaseAccess::kCreate));
  return std::unique_ptr<SqliteModelStore>(new SqliteModelStore(std::move(connection)));
}

absl::StatusOr<std::optional<KnownModel>> SqliteModelStore::Find(const std::string& tenant,
                                                                 const std::string& id) {
  ASSIGN_OR_RETURN(auto found, ReadRows(*connection_, ReadModel,
                                        absl::StrCat(kSelect, "tenant = ? AND id = ?"), tenant, id));
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

absl::StatusOr<KnownModel> SqliteModelStore::AddModel(const KnownModel& model) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ASSIGN_OR_RETURN(SqliteTransaction transaction,
                   SqliteTransaction::Begin(*connection_, SqliteTransaction::Kind::kWrite));
  ASSIGN_OR_RETURN(const auto known, Find(model.tenant, model.id));
  if (known) return *known;
  ASSIGN_OR_RETURN(const auto count, ReadRows(*connection_, ReadNumber,
                                              "SELECT COUNT(*) FROM models WHERE tenant = ?", model.tenant));
  if (count.front() >= kMostModels)
    return absl::OutOfRangeError(absl::StrCat("tenant ", model.tenant, " has ", kMostModels,
                                              " models, which is as many as it may have; delete some"));
  RETURN_IF_ERROR(ChangeRows(*connection_, "INSERT INTO models VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                             model.tenant, model.id, model.name, ToText(model.source), model.created_ms,
                             Name(model.verdict.state), model.verdict.facts, model.verdict.error,
                             model.verdict.program)
                      .status());
  RETURN_IF_ERROR(transaction.Commit());
  return model;
}

absl::StatusOr<std::optional<KnownModel>> SqliteModelStore::FindModel(const std::string& tenant,
                                                                      const std::string& id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return Find(tenant, id);
}

absl::StatusOr<std::vector<KnownModel>> SqliteModelStore::Models(const std::string& tenant,
                                                                 const ModelCursor& after, int64_t most) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return ReadRows(*connection_, ReadModel,
                  absl::StrCat(kSelect,
                               "tenant = ? AND (created_ms < ? OR (created_ms = ? AND id > ?)) ORDER BY "
                               "created_ms DESC, id LIMIT ?"),
                  tenant, after.created_ms, after.created_ms, after.id, most);
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> SqliteModelStore::ImportingModels() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return ReadRows(*connection_, ReadTenantAndId,
                  "SELECT tenant, id FROM models WHERE state = ? ORDER BY created_ms, id",
                  Name(ModelState::kImporting));
}

absl::Status SqliteModelStore::SetVerdict(const std::string& tenant, const std::string& id,
                                          const ModelVerdict& verdict) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return ChangeRows(
             *connection_,
             "UPDATE models SET state = ?, facts = ?, error = ?, program = ? WHERE tenant = ? AND id = ?",
             Name(verdict.state), verdict.facts, verdict.error, verdict.program, tenant, id)
      .status();
}

absl::StatusOr<bool> SqliteModelStore::RemoveModel(const std::string& tenant, const std::string& id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ASSIGN_OR_RETURN(const int64_t removed,
                   ChangeRows(*connection_, "DELETE FROM models WHERE tenant = ? AND id = ?", tenant, id));
  return removed > 0;
}

}  // namespace attune
