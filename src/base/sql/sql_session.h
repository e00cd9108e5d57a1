// Statements that run on SQLite and on PostgreSQL alike.
//
// Parameters are `?`. Integers have 64 bits. A statement keeps to what both databases know: ON CONFLICT,
// CASE, COALESCE, no rowid, no PRAGMA, no iif; a column whose name is a word of SQL, such as "end", stands in
// quotes.
#ifndef ATTUNE_BASE_SQL_SQL_SESSION_H_
#define ATTUNE_BASE_SQL_SQL_SESSION_H_

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"

namespace attune {

// Bytes that are no text.
struct SqlBytes {
  std::string bytes = {};
  bool operator==(const SqlBytes&) const = default;
};
// NULL.
struct SqlNull {
  bool operator==(const SqlNull&) const = default;
};

// PostgreSQL keeps texts in UTF-8 alone: there, a byte that is none, and 0, becomes U+FFFD.
using SqlValue = std::variant<int64_t, double, std::string, SqlBytes, SqlNull>;

inline SqlValue ToSqlValue(std::integral auto value) { return static_cast<int64_t>(value); }
inline SqlValue ToSqlValue(double value) { return value; }
inline SqlValue ToSqlValue(std::string_view value) { return std::string(value); }
inline SqlValue ToSqlValue(SqlBytes value) { return value; }

// A row of an answer. Columns count from 0. A value of another type is converted; NULL is 0 or "".
class SqlRow {
 public:
  explicit SqlRow(std::vector<SqlValue> values) : values_(std::move(values)) {}

  int64_t Integer(int column) const;
  double Real(int column) const;
  std::string Text(int column) const;
  std::string Bytes(int column) const { return Text(column); }
  // Values of tables' columns have the column's type.
  const std::vector<SqlValue>& values() const { return values_; }

 private:
  std::vector<SqlValue> values_;
};

struct SqlAnswer {
  std::vector<SqlRow> rows = {};
  int64_t changed = 0;  // rows that an INSERT, UPDATE or DELETE has changed
};

// Reads a row of one text.
inline absl::StatusOr<std::string> ReadText(const SqlRow& row) { return row.Text(0); }

// For one thread, and not longer than the call that gives it (SqlDatabase).
class SqlSession {
 public:
  virtual ~SqlSession() = default;
  // The database, for messages; without a password.
  virtual const std::string& name() const = 0;
  // Executes one statement. Errors name the database.
  virtual absl::StatusOr<SqlAnswer> Execute(const std::string& sql, const std::vector<SqlValue>& values) = 0;
};

// Executes a statement and returns how many rows it has changed.
template <typename... Values>
absl::StatusOr<int64_t> ChangeRows(SqlSession& session, const std::string& sql, const Values&... values) {
  ASSIGN_OR_RETURN(const SqlAnswer answer, session.Execute(sql, {ToSqlValue(values)...}));
  return answer.changed;
}
// The same where that number does not matter.
template <typename... Values>
absl::Status Execute(SqlSession& session, const std::string& sql, const Values&... values) {
  return ChangeRows(session, sql, values...).status();
}

// The integer that a query returns; 0 if it returns no row.
template <typename... Values>
absl::StatusOr<int64_t> ReadInteger(SqlSession& session, const std::string& sql, const Values&... values) {
  ASSIGN_OR_RETURN(const SqlAnswer answer, session.Execute(sql, {ToSqlValue(values)...}));
  return answer.rows.empty() ? 0 : answer.rows.front().Integer(0);
}

// Reads the rows of a query. `refused` answers a row that `read` does not take: an error ends the reading, OK
// leaves the row out.
template <typename Row, typename Refused, typename... Values>
absl::StatusOr<std::vector<Row>> ReadRowsOr(SqlSession& session, absl::StatusOr<Row> (*read)(const SqlRow&),
                                            const Refused& refused, const std::string& sql,
                                            const Values&... values) {
  ASSIGN_OR_RETURN(const SqlAnswer answer, session.Execute(sql, {ToSqlValue(values)...}));
  std::vector<Row> found;
  found.reserve(answer.rows.size());
  for (const SqlRow& row : answer.rows) {
    absl::StatusOr<Row> value = read(row);
    if (value.ok())
      found.push_back(*std::move(value));
    else
      RETURN_IF_ERROR(refused(value.status()));
  }
  return found;
}

// Reads all rows of a query. DataLoss if `read` refuses one: another program has changed the database.
template <typename Row, typename... Values>
absl::StatusOr<std::vector<Row>> ReadRows(SqlSession& session, absl::StatusOr<Row> (*read)(const SqlRow&),
                                          const std::string& sql, const Values&... values) {
  const auto fail = [&](const absl::Status& why) -> absl::Status {
    return absl::DataLossError(
        absl::StrCat(session.name(), ": holds a row that is not attune's (", why.message(), ")"));
  };
  return ReadRowsOr(session, read, fail, sql, values...);
}

// Reads the rows that `read` takes; the log tells of the others. For lists, of which a damaged row must not
// hide the rest.
template <typename Row, typename... Values>
absl::StatusOr<std::vector<Row>> ReadSoundRows(SqlSession& session,
                                               absl::StatusOr<Row> (*read)(const SqlRow&),
                                               const std::string& sql, const Values&... values) {
  const auto tell = [&](const absl::Status& why) {
    Log(LogLevel::kWarning, "a row of a database is not attune's", "database", session.name(), "reason",
        why.message());
    return absl::OkStatus();
  };
  return ReadRowsOr(session, read, tell, sql, values...);
}

// The first of all rows of a query, which has at most one.
template <typename Row, typename... Values>
absl::StatusOr<std::optional<Row>> ReadRow(SqlSession& session, absl::StatusOr<Row> (*read)(const SqlRow&),
                                           const std::string& sql, const Values&... values) {
  ASSIGN_OR_RETURN(auto rows, ReadRows(session, read, sql, values...));
  if (rows.empty()) return std::nullopt;
  return std::move(rows.front());
}

}  // namespace attune

#endif  // ATTUNE_BASE_SQL_SQL_SESSION_H_
