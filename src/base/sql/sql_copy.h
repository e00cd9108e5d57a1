// All rows of stores as parts of bytes, and back into PostgreSQL.
//
// Problem: a backup needs the tables of all stores as they are at one moment, while servers write to them,
// and they are larger than memory. Idea: a transaction sees one moment; cursors give its rows a few at a
// time, and these few are a part, which names its table and has the type of each value. Tables are made again
// by the stores' own steps, at the version that they had, and brought up to date in the end; so a newer
// program takes the parts of an older one, and PostgreSQL those of SQLite. Price: a few rows are in memory
// several times, which is some 100 MiB where they are pieces of files.
#ifndef ATTUNE_BASE_SQL_SQL_COPY_H_
#define ATTUNE_BASE_SQL_SQL_COPY_H_

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/process/message.h"
#include "base/sql/sql_database.h"
#include "base/sql/sql_schema.h"
#include "base/sql/sql_session.h"

namespace attune {

using SqlPartTaker = std::function<absl::Status(std::string_view part)>;

// Gives `take` the parts of those stores in PostgreSQL that have tables. Within SqlLocation::ReadAllStores().
// Returns the number of rows. Fails if tables are newer than their schema, and with the errors of `take`.
absl::StatusOr<int64_t> CopyStores(SqlSession& session, std::span<const SqlSchema* const> schemas,
                                   const SqlPartTaker& take);
// The same for one store in SQLite, which no process writes to meanwhile.
absl::Status CopySqliteStore(SqlDatabase& database, const SqlSchema& schema, const SqlPartTaker& take);

// Puts the parts back in the order in which they came. Within SqlLocation::WriteAllStores(), in a database
// that has no tables of these stores yet. Session and schemas must outlive it.
class StoresFromCopy {
 public:
  // `name`: the copy, for messages.
  StoresFromCopy(SqlSession& session, std::span<const SqlSchema* const> schemas, std::string name)
      : session_(session), schemas_(schemas), name_(std::move(name)) {}

  // DataLoss if it is no part; FailedPrecondition if its store is newer than this program.
  absl::Status Take(std::string_view part);
  // Brings the tables of all stores up to date, also of those that had none.
  absl::Status Finish();

  int64_t rows() const { return rows_; }

 private:
  absl::Status MakeTables(MessageReader& part);
  absl::Status AddRows(MessageReader& part);
  absl::Status SetCounter(MessageReader& part);
  absl::Status Damaged() const;

  SqlSession& session_;
  const std::span<const SqlSchema* const> schemas_;
  const std::string name_;
  std::set<std::string> tables_;  // that were made
  int64_t rows_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_BASE_SQL_SQL_COPY_H_
