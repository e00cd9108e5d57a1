#include "process/backup/database_rows.h"

#include <functional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/sql/postgres_versions.h"
#include "base/sql/sql_copy.h"
#include "base/status.h"
#include "fleet/store/fleet_store.h"
#include "process/backup/restored_state.h"
#include "process/server/server_schemas.h"

namespace attune {
namespace {

absl::Status CheckIsFree(SqlSession& session, const std::vector<const SqlSchema*>& schemas) {
  for (const SqlSchema* schema : schemas) {
    ASSIGN_OR_RETURN(const int64_t version, PostgresVersion(session, *schema));
    if (version == 0) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        session.name(),
        ": has tables of attune already, and restoring overwrites nothing; name an empty database "
        "with --database"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadWhole(const std::function<absl::StatusOr<std::string_view>()>& read) {
  std::string whole;
  while (true) {
    ASSIGN_OR_RETURN(const std::string_view piece, read());
    if (piece.empty()) return whole;
    whole.append(piece);
  }
}

}  // namespace

absl::StatusOr<int64_t> BackUpDatabase(const SqlLocation& database, ArchiveWriter& archive) {
  int64_t rows = 0;
  const absl::Status read = database.ReadAllStores([&](SqlSession& session) -> absl::Status {
    ASSIGN_OR_RETURN(const int64_t version, PostgresVersion(session, FleetSchema()));
    if (version == 0)
      return absl::NotFoundError(
          absl::StrCat(session.name(), ": is not a database of a server; name another one with --database"));
    ASSIGN_OR_RETURN(rows, CopyStores(session, ServerSchemas(database),
                                      [&](std::string_view part) { return archive.AddRows(part); }));
    return absl::OkStatus();
  });
  RETURN_IF_ERROR(read);
  return rows;
}

absl::Status CheckDatabaseIsFree(const SqlLocation& database) {
  return database.ReadAllStores(
      [&](SqlSession& session) { return CheckIsFree(session, ServerSchemas(database)); });
}

absl::StatusOr<RestoredRows> RestoreDatabase(const std::string& file, std::string_view passphrase,
                                             const SqlLocation& database, int64_t backup_ms, int64_t now_ms) {
  const std::vector<const SqlSchema*> schemas = ServerSchemas(database);
  RestoredRows restored;
  const absl::Status written = database.WriteAllStores([&](SqlSession& session) -> absl::Status {
    RETURN_IF_ERROR(CheckIsFree(session, schemas));  // a server may have begun meanwhile
    StoresFromCopy copy(session, schemas, file);
    const ArchiveVisitor visit = [&](const ArchiveEntry& entry, const auto& read) -> absl::Status {
      if (entry.kind != ArchiveEntryKind::kRows) return absl::OkStatus();
      ASSIGN_OR_RETURN(const std::string part, ReadWhole(read));
      return copy.Take(part);
    };
    RETURN_IF_ERROR(VisitArchive(file, passphrase, visit));
    RETURN_IF_ERROR(copy.Finish());
    restored.rows = copy.rows();
    ASSIGN_OR_RETURN(restored.epoch, EndWhatMustNotCount(session, backup_ms, now_ms));
    return absl::OkStatus();
  });
  RETURN_IF_ERROR(written);
  return restored;
}

}  // namespace attune
