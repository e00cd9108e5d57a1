// The tables of a store, as steps from one version to the next, with a way back.
#ifndef ATTUNE_BASE_SQL_SQL_SCHEMA_H_
#define ATTUNE_BASE_SQL_SQL_SCHEMA_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/sql/sql_session.h"
#include "base/sqlite/sqlite.h"

namespace attune {

// Statements in SQL that both databases know, with the types of a STRICT table in SQLite: INTEGER, REAL, TEXT
// and BLOB, and INTEGER PRIMARY KEY AUTOINCREMENT for rows that are numbered by themselves.
struct SqlMigration {
  std::span<const char* const> up = {};
  std::span<const char* const> down = {};
};

// All names in it must be constants.
struct SqlSchema {
  std::string_view store =
      "";  // its name in a database that holds several; tables of two stores differ in their names
  std::string_view file = "";                     // that an SQLite database of it has in the server's folder
  int64_t application_id = 0;                     // identifies such a file
  std::span<const SqlMigration> migrations = {};  // the one at index i leads from version i to version i + 1
  bool waits_for_disk = true;                     // SQLite: what was acknowledged survives a power cut
  DatabaseWords words = {};                       // for messages about a file

  int64_t version() const { return std::ssize(migrations); }
};

// Executes the steps between two versions, in either direction, and nothing else. InvalidArgument if there is
// no such version.
absl::Status ExecuteMigrations(SqlSession& session, const SqlSchema& schema, int64_t from, int64_t to);

// The names of the tables that the steps up to a version have made.
std::vector<std::string> TablesOf(const SqlSchema& schema, int64_t version);

// Refuses a database whose tables are newer than this program: FailedPrecondition, with the way out.
absl::Status CheckVersion(const std::string& name, const SqlSchema& schema, int64_t version);

}  // namespace attune

#endif  // ATTUNE_BASE_SQL_SQL_SCHEMA_H_
