// The storage of records and runs in tables; only for database*.cc.
#ifndef ATTUNE_TUNE_RECORDS_DATABASE_ROWS_H_
#define ATTUNE_TUNE_RECORDS_DATABASE_ROWS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "base/sqlite/sqlite.h"
#include "tune/records/database.h"
#include "tune/records/record.h"

namespace attune {

// The columns of a record in the tables `r` and `t`, in the order that RecordOfRow expects.
inline constexpr char kRecordColumns[] =
    "t.text, t.flops, r.strategy, r.strategy_version, r.config, r.device, r.threads, r.outcome, r.seconds, "
    "r.low, "
    "r.high, r.repetitions, r.reason, r.run, r.trial, r.search, r.compiler, r.code_digest, r.cache, "
    "r.time_ms, "
    "r.build_seconds, r.measure_seconds";
inline constexpr char kRecordTables[] = " FROM records r JOIN tasks t ON t.id = r.task ";

// Nothing if the row is not a record that this version can read.
std::optional<Record> RecordOfRow(const SqliteStatement& row);
std::optional<TuningRun> RunOfRow(const SqliteStatement& row);

// A filter as " WHERE …" over `r` and `t`, with the values of the parameters.
struct WhereClause {
  std::string sql;
  std::vector<std::variant<int64_t, std::string>> values;

  void BindTo(SqliteStatement& statement) const;
};
// Fails if the filter's task is not a prefix of a digest.
absl::StatusOr<WhereClause> Where(const RecordFilter& filter);

}  // namespace attune

#endif  // ATTUNE_TUNE_RECORDS_DATABASE_ROWS_H_
