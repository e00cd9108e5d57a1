// The versions of stores' tables in a PostgreSQL database, which several stores share.
#ifndef ATTUNE_BASE_SQL_POSTGRES_VERSIONS_H_
#define ATTUNE_BASE_SQL_POSTGRES_VERSIONS_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/sql/sql_schema.h"
#include "base/sql/sql_session.h"

namespace attune {

// Waits for the lock with this name, which lasts as long as the transaction.
absl::Status LockPostgres(SqlSession& session, std::string_view name);
// The one that everybody takes who makes, changes or drops tables.
absl::Status LockPostgresVersions(SqlSession& session);

// 0: the store has no tables.
absl::StatusOr<int64_t> PostgresVersion(SqlSession& session, const SqlSchema& schema);

// As SqlDatabase::Migrate(), as a part of the session's transaction.
absl::Status MigratePostgres(SqlSession& session, const SqlSchema& schema, int64_t version);

// Drops the tables of these stores, and the table of versions.
absl::Status DropPostgresStores(SqlSession& session, std::span<const SqlSchema* const> schemas);

}  // namespace attune

#endif  // ATTUNE_BASE_SQL_POSTGRES_VERSIONS_H_
