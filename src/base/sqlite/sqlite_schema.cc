#include "base/sqlite/sqlite_schema.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace attune {
namespace {

absl::Status MakeTables(SqliteConnection& connection, const SqliteSchema& schema) {
  // Must come before the first table; it does not matter if another process creates that first.
  RETURN_IF_ERROR(connection.Execute("PRAGMA auto_vacuum = INCREMENTAL"));
  ASSIGN_OR_RETURN(SqliteTransaction transaction,
                   SqliteTransaction::Begin(connection, SqliteTransaction::Kind::kWrite));
  ASSIGN_OR_RETURN(const int64_t application, connection.Integer("PRAGMA application_id"));
  if (application == schema.application_id) return absl::OkStatus();
  for (const char* statement : schema.statements) RETURN_IF_ERROR(connection.Execute(statement));
  RETURN_IF_ERROR(connection.Execute(absl::StrCat("PRAGMA application_id = ", schema.application_id)));
  RETURN_IF_ERROR(connection.Execute(absl::StrCat("PRAGMA user_version = ", schema.version)));
  return transaction.Commit();
}

absl::Status Upgrade(SqliteConnection& connection, const SqliteSchema& schema) {
  ASSIGN_OR_RETURN(SqliteTransaction transaction,
                   SqliteTransaction::Begin(connection, SqliteTransaction::Kind::kWrite));
  // Another process may have done it meanwhile.
  ASSIGN_OR_RETURN(const int64_t version, connection.Integer("PRAGMA user_version"));
  if (version >= schema.version) return absl::OkStatus();
  for (const SqliteUpgrade& upgrade : schema.upgrades)
    if (upgrade.from >= version) RETURN_IF_ERROR(connection.Execute(upgrade.statement));
  RETURN_IF_ERROR(connection.Execute(absl::StrCat("PRAGMA user_version = ", schema.version)));
  return transaction.Commit();
}

}  // namespace

absl::Status MakeFoldersOf(const std::string& path, const SqliteSchema& schema) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (!error) return absl::OkStatus();
  return absl::PermissionDeniedError(absl::StrCat(path, ": cannot make the folder ", folder.string(), ": ",
                                                  error.message(), "; ", schema.words.NameAnother()));
}

absl::Status PrepareDatabase(SqliteConnection& connection, const SqliteSchema& schema,
                             DatabaseAccess access) {
  // In this order, since another process may set both, in one step, between the two queries.
  ASSIGN_OR_RETURN(const int64_t objects, connection.Integer("SELECT count(*) FROM sqlite_schema"));
  ASSIGN_OR_RETURN(int64_t application, connection.Integer("PRAGMA application_id"));
  const bool is_new = application == 0 && objects == 0;
  if (is_new && access == DatabaseAccess::kCreate) {
    RETURN_IF_ERROR(MakeTables(connection, schema));
    application = schema.application_id;
  }
  if (application != schema.application_id) {
    const std::string fault =
        is_new ? absl::StrCat(": is empty, not a ", schema.words.what) : ": is another program's database";
    return absl::FailedPreconditionError(
        absl::StrCat(connection.path(), fault, "; ", schema.words.NameAnother()));
  }
  ASSIGN_OR_RETURN(const int64_t version, connection.Integer("PRAGMA user_version"));
  if (version > schema.version) {
    return absl::FailedPreconditionError(absl::StrCat(
        connection.path(), ": was written by a newer attune (tables version ", version, ", this one knows ",
        schema.version, "); update attune or ", schema.words.NameAnother()));
  }
  if (version < schema.version && access != DatabaseAccess::kRead && !schema.upgrades.empty())
    RETURN_IF_ERROR(Upgrade(connection, schema));
  // On a file system without shared memory, SQLite keeps using its rollback journal, which is safe as well.
  if (access == DatabaseAccess::kCreate && !connection.is_read_only()) {
    RETURN_IF_ERROR(connection.ExecutePatiently("PRAGMA journal_mode = WAL"));
  }
  // As safe as FULL if the process ends suddenly, without waiting for the disk during a measurement.
  return connection.Execute("PRAGMA synchronous = NORMAL");
}

}  // namespace attune
