#include "service/rest/sqlite_session_store.h"

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/sqlite/sqlite_rows.h"
#include "base/sqlite/sqlite_schema.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr const char* kTables[] = {
    "CREATE TABLE sessions (digest TEXT NOT NULL PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, "
    "tenant TEXT NOT NULL, role TEXT NOT NULL, token_digest TEXT NOT NULL, person TEXT NOT NULL, created_ms "
    "INTEGER NOT NULL, expires_ms INTEGER NOT NULL) STRICT",
    "CREATE INDEX sessions_by_tenant ON sessions (tenant, expires_ms)",
    "CREATE INDEX sessions_by_holder ON sessions (token_digest, person, created_ms)",
    "CREATE INDEX sessions_by_end ON sessions (expires_ms)",
};
constexpr SqliteSchema kSchema = {.application_id = 0x41745365,  // "AtSe"
                                  .version = 1,
                                  .statements = kTables,
                                  .words = {.what = "session database", .flag = "--state"}};

constexpr std::string_view kSelectSession =
    "SELECT id, name, tenant, role, token_digest, person, created_ms, expires_ms FROM sessions WHERE "
    "expires_ms > ? AND ";

absl::StatusOr<PageSession> ReadSession(const SqliteStatement& row) {
  ASSIGN_OR_RETURN(const AccessRole role, AccessRoleNamed(row.Text(3)));
  return PageSession{.id = row.Text(0),
                     .name = row.Text(1),
                     .tenant = row.Text(2),
                     .role = role,
                     .token_digest = row.Text(4),
                     .person = row.Text(5),
                     .created_ms = row.Integer(6),
                     .expires_ms = row.Integer(7)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<SqliteSessionStore>> SqliteSessionStore::Open(const std::string& path) {
  RETURN_IF_ERROR(MakeFoldersOf(path, kSchema));
  ASSIGN_OR_RETURN(auto connection, SqliteConnection::Open(path, {}, kSchema.words));
  RETURN_IF_ERROR(PrepareDatabase(*connection, kSchema, DatabaseAccess::kCreate));
  // A power cut must not bring a session back that was ended.
  RETURN_IF_ERROR(connection->Execute("PRAGMA synchronous = FULL"));
  return std::unique_ptr<SqliteSessionStore>(new SqliteSessionStore(std::move(connection)));
}

absl::Status SqliteSessionStore::AddSession(const PageSession& session, const std::string& digest) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ASSIGN_OR_RETURN(SqliteTransaction transaction,
                   SqliteTransaction::Begin(*connection_, SqliteTransaction::Kind::kWrite));
  RETURN_IF_ERROR(
      ChangeRows(*connection_, "DELETE FROM sessions WHERE expires_ms <= ?", session.created_ms).status());
  RETURN_IF_ERROR(ChangeRows(*connection_,
                             "DELETE FROM sessions WHERE digest IN (SELECT digest FROM sessions WHERE "
                             "token_digest = ? AND person = ? ORDER BY created_ms DESC, digest LIMIT ? "
                             "OFFSET ?)",
                             session.token_digest, session.person, kMostSessions, kMostSessions - 1)
                      .status());
  RETURN_IF_ERROR(ChangeRows(*connection_, "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", digest,
                             session.id, session.name, session.tenant, Name(session.role),
                             session.token_digest, session.person, session.created_ms, session.expires_ms)
                      .status());
  return transaction.Commit();
}

absl::StatusOr<std::optional<PageSession>> SqliteSessionStore::FindSession(const std::string& digest,
                                                                           int64_t now_ms) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ASSIGN_OR_RETURN(
      std::vector<PageSession> found,
      ReadRows(*connection_, ReadSession, absl::StrCat(kSelectSession, "digest = ?"), now_ms, digest));
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

absl::StatusOr<std::vector<PageSession>> SqliteSessionStore::Sessions(const std::string& tenant,
                                                                      int64_t now_ms) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return ReadRows(*connection_, ReadSession,
                  absl::StrCat(kSelectSession, "tenant = ? ORDER BY created_ms DESC, id"), now_ms, tenant);
}

absl::Status SqliteSessionStore::EndSession(const std::string& id, const std::string& tenant) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ASSIGN_OR_RETURN(const int64_t found, ChangeRows(*connection_,
                                                   absl::StrCat("DELETE FROM sessions WHERE id = ? AND ",
                                                                tenant.empty() ? "? = ''" : "tenant = ?"),
                                                   id, tenant));
  if (found > 0) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("there is no session \"", Printable(id), "\""));
}

}  // namespace attune
