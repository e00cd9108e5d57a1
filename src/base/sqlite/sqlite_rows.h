// Statements of databases that change or return rows.
#ifndef ATTUNE_BASE_SQLITE_SQLITE_ROWS_H_
#define ATTUNE_BASE_SQLITE_SQLITE_ROWS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/sqlite/sqlite.h"
#include "base/status.h"

namespace attune {

// Executes a statement and returns how many rows it has changed.
template <typename... Values>
absl::StatusOr<int64_t> ChangeRows(SqliteConnection& connection, const std::string& sql,
                                   const Values&... values) {
  ASSIGN_OR_RETURN(SqliteStatement statement, SqliteStatement::Prepare(connection, sql));
  RETURN_IF_ERROR(statement.Run(values...));
  return connection.changes();
}

// Reads all rows of a query. DataLoss if `read` refuses one: another program has changed the file.
template <typename Row, typename... Values>
absl::StatusOr<std::vector<Row>> ReadRows(SqliteConnection& connection,
                                          absl::StatusOr<Row> (*read)(const SqliteStatement&),
                                          const std::string& sql, const Values&... values) {
  ASSIGN_OR_RETURN(SqliteStatement rows, SqliteStatement::Prepare(connection, sql));
  rows.Start(values...);
  std::vector<Row> found;
  for (;;) {
    ASSIGN_OR_RETURN(const bool is_row, rows.Step());
    if (!is_row) return found;
    absl::StatusOr<Row> row = read(rows);
    if (!row.ok()) {
      return absl::DataLossError(absl::StrCat(connection.path(), ": holds a row that is not attune's (",
                                              row.status().message(), ")"));
    }
    found.push_back(*std::move(row));
  }
}

}  // namespace attune

#endif  // ATTUNE_BASE_SQLITE_SQLITE_ROWS_H_
