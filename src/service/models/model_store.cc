#include "service/models/model_store.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr const char* kUp1[] = {
    "CREATE TABLE models (tenant TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, source TEXT NOT NULL, "
    "created_ms INTEGER NOT NULL, state TEXT NOT NULL, facts TEXT NOT NULL, error TEXT NOT NULL, program "
    "TEXT NOT NULL, PRIMARY KEY (tenant, id)) STRICT",
    "CREATE INDEX models_by_time ON models (tenant, created_ms)",
    "CREATE INDEX models_by_state ON models (state)",
};
constexpr const char* kDown1[] = {"DROP TABLE models"};
constexpr SqlMigration kMigrations[] = {{.up = kUp1, .down = kDown1}};

constexpr std::string_view kSelect =
    "SELECT tenant, id, name, source, created_ms, state, facts, error, program FROM models WHERE ";
constexpr std::array<std::string_view, 3> kStates = {"importing", "ready", "refused"};

// A damaged row affects its own model alone: a refused model without files, which adding it again repairs.
absl::StatusOr<KnownModel> ReadModel(const SqlRow& row) {
  KnownModel model = {
      .tenant = row.Text(0), .id = row.Text(1), .name = row.Text(2), .created_ms = row.Integer(4)};
  const auto state = std::ranges::find(kStates, row.Text(5));
  absl::StatusOr<ModelSource> source = ModelSourceOf(row.Text(3));
  if (state == kStates.end() || !source.ok()) {
    model.verdict = {.state = ModelState::kRefused, .error = "its stored facts are damaged; add it again"};
    return model;
  }
  model.source = *std::move(source);
  model.verdict = {.state = static_cast<ModelState>(std::distance(kStates.begin(), state)),
                   .facts = row.Text(6),
                   .error = row.Text(7),
                   .program = row.Text(8)};
  return model;
}

using TenantAndId = std::pair<std::string, std::string>;
absl::StatusOr<TenantAndId> ReadTenantAndId(const SqlRow& row) {
  return TenantAndId(row.Text(0), row.Text(1));
}

absl::StatusOr<std::optional<KnownModel>> Find(SqlSession& session, const std::string& tenant,
                                               const std::string& id) {
  return ReadRow(session, ReadModel, absl::StrCat(kSelect, "tenant = ? AND id = ?"), tenant, id);
}

}  // namespace

std::string_view Name(ModelState state) { return kStates[static_cast<size_t>(state)]; }

const SqlSchema& ModelSchema() {
  static constexpr SqlSchema kSchema = {.store = "models",
                                        .file = "models.db",
                                        .application_id = 0x4174536d,  // "AtSm"
                                        .migrations = kMigrations,
                                        .words = {.what = "database of models", .flag = "--state"}};
  return kSchema;
}

absl::StatusOr<std::unique_ptr<ModelStore>> ModelStore::Open(const SqlLocation& location) {
  ASSIGN_OR_RETURN(auto database, location.Open(ModelSchema()));
  return std::unique_ptr<ModelStore>(new ModelStore(std::move(database)));
}

absl::StatusOr<KnownModel> ModelStore::AddModel(const KnownModel& model) {
  return database_->Write([&](SqlSession& session) -> absl::StatusOr<KnownModel> {
    ASSIGN_OR_RETURN(const auto known, Find(session, model.tenant, model.id));
    if (known && !known->source.files.empty()) return *known;
    if (known)
      RETURN_IF_ERROR(
          Execute(session, "DELETE FROM models WHERE tenant = ? AND id = ?", model.tenant, model.id));
    ASSIGN_OR_RETURN(const int64_t count,
                     ReadInteger(session, "SELECT COUNT(*) FROM models WHERE tenant = ?", model.tenant));
    if (count >= kMostModels)
      return absl::OutOfRangeError(absl::StrCat("tenant ", model.tenant, " has ", kMostModels,
                                                " models, which is the most; delete some"));
    RETURN_IF_ERROR(Execute(session, "INSERT INTO models VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", model.tenant,
                            model.id, model.name, ToText(model.source), model.created_ms,
                            Name(model.verdict.state), model.verdict.facts, model.verdict.error,
                            model.verdict.program));
    return model;
  });
}

absl::StatusOr<std::optional<KnownModel>> ModelStore::FindModel(const std::string& tenant,
                                                                const std::string& id) {
  return database_->Read([&](SqlSession& session) { return Find(session, tenant, id); });
}

absl::StatusOr<std::vector<KnownModel>> ModelStore::Models(const std::string& tenant,
                                                           const ModelCursor& after, int64_t most) {
  return ReadRows(*database_, ReadModel,
                  absl::StrCat(kSelect,
                               "tenant = ? AND (created_ms < ? OR (created_ms = ? AND id > ?)) ORDER BY "
                               "created_ms DESC, id LIMIT ?"),
                  tenant, after.created_ms, after.created_ms, after.id, most);
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ModelStore::ImportingModels() {
  return ReadRows(*database_, ReadTenantAndId,
                  "SELECT tenant, id FROM models WHERE state = ? ORDER BY created_ms, id",
                  Name(ModelState::kImporting));
}

absl::Status ModelStore::SetVerdict(const std::string& tenant, const std::string& id,
                                    const ModelVerdict& verdict) {
  return Execute(*database_,
                 "UPDATE models SET state = ?, facts = ?, error = ?, program = ? WHERE tenant = ? AND id = ?",
                 Name(verdict.state), verdict.facts, verdict.error, verdict.program, tenant, id);
}

absl::StatusOr<bool> ModelStore::RemoveModel(const std::string& tenant, const std::string& id) {
  return database_->Write([&](SqlSession& session) -> absl::StatusOr<bool> {
    ASSIGN_OR_RETURN(const int64_t removed,
                     ChangeRows(session, "DELETE FROM models WHERE tenant = ? AND id = ?", tenant, id));
    return removed > 0;
  });
}

}  // namespace attune
