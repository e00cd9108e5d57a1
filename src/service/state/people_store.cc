#include "service/state/people_store.h"

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr const char* kUp[] = {
    "CREATE TABLE sessions (digest TEXT NOT NULL PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, "
    "tenant TEXT NOT NULL, role TEXT NOT NULL, token_digest TEXT NOT NULL, person TEXT NOT NULL, created_ms "
    "INTEGER NOT NULL, expires_ms INTEGER NOT NULL) STRICT",
    "CREATE INDEX sessions_by_tenant ON sessions (tenant, expires_ms)",
    "CREATE INDEX sessions_by_holder ON sessions (token_digest, person, created_ms)",
    "CREATE INDEX sessions_by_end ON sessions (expires_ms)",
    "CREATE TABLE people (id TEXT NOT NULL PRIMARY KEY, issuer TEXT NOT NULL, subject TEXT NOT NULL, name "
    "TEXT NOT NULL, tenant TEXT NOT NULL, role TEXT NOT NULL, is_blocked INTEGER NOT NULL, not_before_ms "
    "INTEGER NOT NULL, created_ms INTEGER NOT NULL, last_login_ms INTEGER NOT NULL) STRICT",
    "CREATE INDEX people_by_tenant ON people (tenant, name)",
};
constexpr const char* kDown[] = {"DROP TABLE people", "DROP TABLE sessions"};
constexpr SqlMigration kMigrations[] = {{.up = kUp, .down = kDown}};

constexpr std::string_view kSelectSession =
    "SELECT id, name, tenant, role, token_digest, person, created_ms, expires_ms FROM sessions WHERE "
    "expires_ms > ? AND ";
constexpr std::string_view kSelectPerson =
    "SELECT id, issuer, subject, name, tenant, role, is_blocked, not_before_ms, created_ms, last_login_ms "
    "FROM people WHERE ";

absl::StatusOr<PageSession> ReadSession(const SqlRow& row) {
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

absl::StatusOr<PersonRecord> ReadPerson(const SqlRow& row) {
  ASSIGN_OR_RETURN(const AccessRole role, AccessRoleNamed(row.Text(5)));
  return PersonRecord{.id = row.Text(0),
                      .issuer = row.Text(1),
                      .subject = row.Text(2),
                      .name = row.Text(3),
                      .tenant = row.Text(4),
                      .role = role,
                      .is_blocked = row.Integer(6) != 0,
                      .not_before_ms = row.Integer(7),
                      .created_ms = row.Integer(8),
                      .last_login_ms = row.Integer(9)};
}

// The condition that a row is of the tenant, or of any if it is empty; takes the tenant.
std::string OfTenant(const std::string& tenant) { return tenant.empty() ? "? = ''" : "tenant = ?"; }

}  // namespace

const SqlSchema& PeopleSchema() {
  static constexpr SqlSchema kSchema = {.store = "people",
                                        .file = "people.db",
                                        .application_id = 0x41745065,  // "AtPe"
                                        .migrations = kMigrations,
                                        .words = {.what = "database of people", .flag = "--state"}};
  return kSchema;
}

absl::StatusOr<std::unique_ptr<PeopleStore>> PeopleStore::Open(const SqlLocation& location) {
  ASSIGN_OR_RETURN(std::unique_ptr<SqlDatabase> database, location.Open(PeopleSchema()));
  return std::unique_ptr<PeopleStore>(new PeopleStore(std::move(database)));
}

absl::Status PeopleStore::AddSession(const PageSession& session, const std::string& digest) {
  return database_->Write([&](SqlSession& sql) -> absl::Status {
    RETURN_IF_ERROR(Execute(sql, "DELETE FROM sessions WHERE expires_ms <= ?", session.created_ms));
    RETURN_IF_ERROR(
        Execute(sql,
                "DELETE FROM sessions WHERE digest IN (SELECT digest FROM sessions WHERE token_digest = ? "
                "AND person = ? ORDER BY created_ms DESC, digest LIMIT ? OFFSET ?)",
                session.token_digest, session.person, kMostSessions, kMostSessions - 1));
    return Execute(sql, "INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", digest, session.id,
                   session.name, session.tenant, Name(session.role), session.token_digest, session.person,
                   session.created_ms, session.expires_ms);
  });
}

absl::StatusOr<std::optional<PageSession>> PeopleStore::FindSession(const std::string& digest,
                                                                    int64_t now_ms) {
  return ReadRow(*database_, ReadSession, absl::StrCat(kSelectSession, "digest = ?"), now_ms, digest);
}

absl::StatusOr<std::vector<PageSession>> PeopleStore::Sessions(const std::string& tenant, int64_t now_ms) {
  return ReadSoundRows(*database_, ReadSession,
                       absl::StrCat(kSelectSession, "tenant = ? ORDER BY created_ms DESC, id"), now_ms,
                       tenant);
}

absl::Status PeopleStore::EndSession(const std::string& id, const std::string& tenant) {
  return database_->Write([&](SqlSession& sql) -> absl::Status {
    ASSIGN_OR_RETURN(const int64_t found,
                     ChangeRows(sql, absl::StrCat("DELETE FROM sessions WHERE id = ? AND ", OfTenant(tenant)),
                                id, tenant));
    if (found > 0) return absl::OkStatus();
    return absl::NotFoundError(absl::StrCat("there is no session \"", Printable(id), "\""));
  });
}

absl::StatusOr<PersonRecord> PeopleStore::SavePerson(const PersonRecord& person) {
  return database_->Write([&](SqlSession& sql) -> absl::StatusOr<PersonRecord> {
    const std::string select = absl::StrCat(kSelectPerson, "id = ?");
    ASSIGN_OR_RETURN(const auto known, ReadRow(sql, ReadPerson, select, person.id));
    if (!known) {
      ASSIGN_OR_RETURN(const int64_t count,
                       ReadInteger(sql, "SELECT count(*) FROM people WHERE tenant = ?", person.tenant));
      if (count >= kMostPeople)
        return absl::FailedPreconditionError(
            absl::StrCat("tenant ", person.tenant, " has ", count, " people, which is the most"));
    }
    RETURN_IF_ERROR(Execute(sql,
                            "INSERT INTO people VALUES (?, ?, ?, ?, ?, ?, 0, 0, ?, ?) ON CONFLICT (id) DO "
                            "UPDATE SET name = excluded.name, tenant = excluded.tenant, role = "
                            "excluded.role, last_login_ms = excluded.last_login_ms",
                            person.id, person.issuer, person.subject, person.name, person.tenant,
                            Name(person.role), person.last_login_ms, person.last_login_ms));
    ASSIGN_OR_RETURN(auto saved, ReadRow(sql, ReadPerson, select, person.id));
    if (!saved) return absl::InternalError("a person who was saved is not there");
    return *std::move(saved);
  });
}

absl::StatusOr<std::optional<PersonRecord>> PeopleStore::FindPerson(const std::string& id) {
  return database_->Read(
      [&](SqlSession& sql) { return ReadRow(sql, ReadPerson, absl::StrCat(kSelectPerson, "id = ?"), id); });
}

absl::StatusOr<std::vector<PersonRecord>> PeopleStore::People(const std::string& tenant) {
  return ReadSoundRows(*database_, ReadPerson, absl::StrCat(kSelectPerson, "tenant = ? ORDER BY name, id"),
                       tenant);
}

absl::Status PeopleStore::LogOutPerson(const std::string& id, const std::string& tenant, bool is_blocked,
                                       int64_t now_ms) {
  return database_->Write([&](SqlSession& sql) -> absl::Status {
    ASSIGN_OR_RETURN(
        const int64_t found,
        ChangeRows(sql,
                   absl::StrCat("UPDATE people SET is_blocked = ?, not_before_ms = ? WHERE id = ? AND ",
                                OfTenant(tenant)),
                   is_blocked ? 1 : 0, now_ms, id, tenant));
    if (found == 0) return absl::NotFoundError(absl::StrCat("there is no person \"", Printable(id), "\""));
    return Execute(sql, "DELETE FROM sessions WHERE person = ?", id);
  });
}

absl::Status PeopleStore::RemoveTenant(const std::string& tenant) {
  return database_->Write([&](SqlSession& sql) -> absl::Status {
    RETURN_IF_ERROR(Execute(sql, "DELETE FROM sessions WHERE tenant = ?", tenant));
    return Execute(sql, "DELETE FROM people WHERE tenant = ?", tenant);
  });
}

}  // namespace attune
