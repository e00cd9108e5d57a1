#include "process/backup/restored_state.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/sql/sql_database.h"
#include "base/sqlite/sqlite.h"
#include "base/status.h"
#include "fleet/admission/restored_times.h"
#include "fleet/store/fleet_store.h"

namespace attune {
namespace {

// More than a server can be started again. The wall clock has a part in it too, for a backup that is restored
// twice.
constexpr int64_t kEpochs = int64_t{1} << 32;

// Executes the statement if the database has the table: versions before had fewer.
absl::Status ChangeTable(SqliteConnection& connection, const std::string& table, const std::string& sql) {
  ASSIGN_OR_RETURN(
      const int64_t count,
      connection.Integer(absl::StrCat("SELECT count(*) FROM sqlite_schema WHERE name = '", table, "'")));
  return count == 0 ? absl::OkStatus() : connection.Execute(sql);
}

absl::StatusOr<int64_t> RaiseEpoch(SqlSession& session, int64_t now_ms) {
  ASSIGN_OR_RETURN(const int64_t latest, ReadInteger(session, "SELECT latest FROM epochs WHERE id = 1"));
  const int64_t epoch = std::max(latest + kEpochs, now_ms);
  RETURN_IF_ERROR(Execute(
      session, "INSERT INTO epochs VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET latest = excluded.latest",
      epoch));
  RETURN_IF_ERROR(Execute(session, "DELETE FROM leases"));
  RETURN_IF_ERROR(Execute(session, "DELETE FROM invitations"));
  return epoch;
}

absl::Status EndAccessOf(const std::string& path) {
  ASSIGN_OR_RETURN(const auto connection, SqliteConnection::Open(path, {.access = DatabaseAccess::kWrite}));
  RETURN_IF_ERROR(ChangeTable(*connection, "tokens", "UPDATE tokens SET is_revoked = 1"));
  return ChangeTable(*connection, "sessions", "DELETE FROM sessions");
}

// Whichever of the databases has tokens and sessions.
absl::Status EndAccess(const std::string& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".db") RETURN_IF_ERROR(EndAccessOf(entry.path().string()));
  return error ? absl::FailedPreconditionError(absl::StrCat(folder, ": ", error.message()))
               : absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> EndWhatMustNotCount(const std::string& folder, int64_t backup_ms, int64_t now_ms) {
  RETURN_IF_ERROR(EndAccess(folder));
  RETURN_IF_ERROR(AddRestoredTime(folder, {.backup_ms = backup_ms, .restored_ms = now_ms}));
  ASSIGN_OR_RETURN(const std::unique_ptr<SqlDatabase> fleet,
                   OpenSqlite(folder + "/fleet.db", FleetSchema(), SqlOpening::kAsItIs));
  return fleet->Write([&](SqlSession& session) { return RaiseEpoch(session, now_ms); });
}

absl::StatusOr<int64_t> EndWhatMustNotCount(SqlSession& session, int64_t backup_ms, int64_t now_ms) {
  RETURN_IF_ERROR(Execute(session, "UPDATE tokens SET is_revoked = 1"));
  RETURN_IF_ERROR(Execute(session, "DELETE FROM sessions"));
  ASSIGN_OR_RETURN(const std::string known, FleetStore::ReadRestoredTimes(session));
  ASSIGN_OR_RETURN(std::vector<RestoredTime> times, ParseRestoredTimes(known));
  times.push_back({.backup_ms = backup_ms, .restored_ms = now_ms});
  RETURN_IF_ERROR(FleetStore::WriteRestoredTimes(session, FormatRestoredTimes(times)));
  // No server serves yet, and one that served before has lost its lease.
  RETURN_IF_ERROR(Execute(
      session, "UPDATE server_leases SET token = token + ?, beat = 0, holder = '', address = ''", kEpochs));
  return RaiseEpoch(session, now_ms);
}

}  // namespace attune
