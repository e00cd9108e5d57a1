#include "base/sql/postgres_versions.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace attune {
namespace {

constexpr char kVersionTable[] =
    "CREATE TABLE IF NOT EXISTS attune_versions (store TEXT NOT NULL PRIMARY KEY, version INTEGER NOT NULL)";

absl::StatusOr<int64_t> ReadVersion(SqlSession& session, const SqlSchema& schema) {
  return ReadInteger(session, "SELECT version FROM attune_versions WHERE store = ?", schema.store);
}

}  // namespace

absl::Status LockPostgres(SqlSession& session, std::string_view name) {
  return session
      .Execute("SELECT pg_advisory_xact_lock(hashtextextended(?, 0))",
               {ToSqlValue(absl::StrCat("attune ", name))})
      .status();
}

absl::Status LockPostgresVersions(SqlSession& session) { return LockPostgres(session, "versions"); }

absl::StatusOr<int64_t> PostgresVersion(SqlSession& session, const SqlSchema& schema) {
  ASSIGN_OR_RETURN(const int64_t is_there,
                   ReadInteger(session,
                               "SELECT count(*) FROM pg_tables WHERE schemaname = 'public' AND "
                               "tablename = 'attune_versions'"));
  if (is_there == 0) return 0;
  return ReadVersion(session, schema);
}

absl::Status MigratePostgres(SqlSession& session, const SqlSchema& schema, int64_t version) {
  // One at a time for all stores, since they share the table.
  RETURN_IF_ERROR(LockPostgresVersions(session));
  RETURN_IF_ERROR(session.Execute(kVersionTable, {}).status());
  ASSIGN_OR_RETURN(const int64_t from, ReadVersion(session, schema));
  RETURN_IF_ERROR(CheckVersion(session.name(), schema, from));
  RETURN_IF_ERROR(ExecuteMigrations(session, schema, from, version));
  return Execute(session,
                 "INSERT INTO attune_versions VALUES (?, ?) ON CONFLICT (store) DO UPDATE SET version = "
                 "excluded.version",
                 schema.store, version);
}

absl::Status DropPostgresStores(SqlSession& session, std::span<const SqlSchema* const> schemas) {
  for (const SqlSchema* schema : schemas) RETURN_IF_ERROR(MigratePostgres(session, *schema, 0));
  return session.Execute("DROP TABLE attune_versions", {}).status();
}

}  // namespace attune
