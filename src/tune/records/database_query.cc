// The queries of RecordDatabase.
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "tune/records/database.h"
#include "tune/records/database_rows.h"
#include "tune/records/known_times.h"

namespace attune {
namespace {

bool IsPrior(const std::optional<StrategyVersions>& versions, const std::string& strategy, int64_t version) {
  if (!versions) return false;
  const auto found = versions->find(strategy);
  return found == versions->end() || found->second != version;
}

// Returns the rows of the records that pass the filter: SELECT `columns` … WHERE … `rest`.
absl::StatusOr<SqliteStatement> Select(SqliteConnection& connection, const RecordFilter& filter,
                                       std::string_view columns, std::string_view rest) {
  ASSIGN_OR_RETURN(const WhereClause where, Where(filter));
  ASSIGN_OR_RETURN(SqliteStatement rows,
                   SqliteStatement::Prepare(
                       connection, absl::StrCat("SELECT ", columns, kRecordTables, where.sql, " ", rest)));
  where.BindTo(rows);
  return rows;
}

}  // namespace

absl::Status RecordDatabase::ForEachRecord(const RecordFilter& filter,
                                           const std::function<absl::Status(const Record&)>& visit,
                                           int64_t* unreadable) {
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(SqliteStatement rows, Select(*connection_, filter, kRecordColumns, "ORDER BY r.id"));
  while (true) {
    ASSIGN_OR_RETURN(const bool found, rows.Step());
    if (!found) return absl::OkStatus();
    const std::optional<Record> record = RecordOfRow(rows);
    if (record) {
      RETURN_IF_ERROR(visit(*record));
    } else if (unreadable != nullptr) {
      ++*unreadable;
    }
  }
}

absl::StatusOr<std::vector<Record>> RecordDatabase::Records(const RecordFilter& filter) {
  std::vector<Record> records;
  RETURN_IF_ERROR(ForEachRecord(filter, [&](const Record& record) {
    records.push_back(record);
    return absl::OkStatus();
  }));
  return records;
}

absl::StatusOr<std::optional<Record>> RecordDatabase::RecordById(int64_t id) {
  ASSIGN_OR_RETURN(SqliteStatement row,
                   SqliteStatement::Prepare(*connection_, absl::StrCat("SELECT ", kRecordColumns,
                                                                       kRecordTables, "WHERE r.id = ?")));
  row.Start(id);
  ASSIGN_OR_RETURN(const bool found, row.Step());
  if (!found) return std::nullopt;
  return RecordOfRow(row);
}

// The SQL query does not filter by run and caches, since failures in other runs count too.
absl::Status RecordDatabase::ForEachKey(const RecordFilter& filter,
                                        const std::optional<StrategyVersions>& versions,
                                        const std::function<absl::Status(const KeyTimes&)>& visit) {
  RecordFilter keys = filter;
  keys.run.clear();
  keys.cache.reset();
  ASSIGN_OR_RETURN(
      SqliteStatement rows,
      Select(
          *connection_, keys,
          "r.task, r.device, r.threads, r.id, r.strategy, r.strategy_version, r.config, r.run, r.search, "
          "r.outcome, r.cache, r.seconds, r.time_ms",
          "AND r.outcome IN ('ok', 'wrong_result', 'crashed') ORDER BY r.task, r.device, r.threads, r.id"));
  using Key = std::tuple<int64_t, std::string, int64_t>;
  std::optional<Key> current;
  KeyTimes known;
  while (true) {
    ASSIGN_OR_RETURN(const bool found, rows.Step());
    std::optional<Key> key;
    if (found) key.emplace(rows.Integer(0), rows.Text(1), rows.Integer(2));
    if (current.has_value() && key != current) RETURN_IF_ERROR(visit(std::exchange(known, {})));
    if (!found) return absl::OkStatus();
    current = std::move(key);
    KnownTime time;
    time.kind = KnownTime::KindOf(rows.Text(9) == Name(TrialOutcome::kOk), rows.Text(8));
    time.config = absl::StrCat(rows.Text(4), " ", rows.Integer(5), " ", rows.Text(6));
    time.run = rows.Text(7);
    const std::optional<CacheMode> cache = ParseCacheMode(rows.Text(10));
    if (!cache.has_value()) continue;  // from another version
    time.cache = *cache;
    time.seconds = rows.Real(11);
    time.time_ms = rows.Integer(12);
    const bool is_asked_for =
        (filter.run.empty() || filter.run == time.run) && (!filter.cache || *filter.cache == time.cache);
    if (time.kind != KnownTime::Kind::kFailed && !is_asked_for) continue;
    KeyTimes::Part& part = IsPrior(versions, rows.Text(4), rows.Integer(5)) ? known.priors : known.current;
    part.times.push_back(std::move(time));
    part.ids.push_back(rows.Integer(3));
  }
}

absl::StatusOr<std::vector<BestRecord>> RecordDatabase::Best(const RecordFilter& filter,
                                                             const BestOptions& options) {
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(SqliteTransaction snapshot,
                   SqliteTransaction::Begin(*connection_, SqliteTransaction::Kind::kRead));
  std::vector<BestRecord> best;
  const auto add_first = [&](const KeyTimes::Part& part, bool prior) -> absl::StatusOr<bool> {
    for (const size_t place : RankTimes(part.times)) {
      ASSIGN_OR_RETURN(std::optional<Record> record, RecordById(part.ids[place]));
      if (!record) continue;
      best.push_back({*std::move(record), prior});
      return true;
    }
    return false;
  };
  const auto add = [&](const KeyTimes& known) -> absl::Status {
    ASSIGN_OR_RETURN(const bool counts, add_first(known.current, /*prior=*/false));
    if (counts || !options.priors) return absl::OkStatus();
    return add_first(known.priors, /*prior=*/true).status();
  };
  RETURN_IF_ERROR(ForEachKey(filter, options.versions, add));
  return best;
}

absl::StatusOr<std::vector<TaskEntry>> RecordDatabase::Tasks(const RecordFilter& filter) {
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(SqliteStatement rows,
                   Select(*connection_, filter,
                          "t.digest, t.text, t.flops, r.device, r.threads, count(*), sum(r.outcome <> 'ok'), "
                          "min(CASE WHEN r.outcome = 'ok' THEN r.seconds END), max(r.time_ms)",
                          "GROUP BY r.task, r.device, r.threads ORDER BY r.task"));
  std::vector<TaskEntry> tasks;
  while (true) {
    ASSIGN_OR_RETURN(const bool found, rows.Step());
    if (!found) return tasks;
    if (!IsPrintable(rows.Text(0)) || !IsPrintable(rows.Text(3))) continue;  // no record has such names
    tasks.push_back({.digest = rows.Text(0),
                     .text = rows.Text(1),
                     .flops = rows.Real(2),
                     .device = rows.Text(3),
                     .threads = static_cast<int>(rows.Integer(4)),
                     .records = rows.Integer(5),
                     .failed = rows.Integer(6),
                     .best_seconds = rows.Real(7),
                     .last_ms = rows.Integer(8)});
  }
}

}  // namespace attune
