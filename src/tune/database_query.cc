// What RecordDatabase is asked.
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "tune/database.h"
#include "tune/database_rows.h"

namespace attune {
namespace {

// A record that may be the best of its key, by what the index holds.
struct Candidate {
  int64_t id = 0;
  int64_t task = 0;
  std::string device;
  int64_t threads = 0;
  bool prior = false;

  bool HasKeyOf(const Candidate& other) const {
    return task == other.task && threads == other.threads && device == other.device;
  }
};

bool IsPrior(const std::optional<StrategyVersions>& versions, const std::string& strategy, int64_t version) {
  if (!versions) return false;
  const auto found = versions->find(strategy);
  return found == versions->end() || found->second != version;
}

}  // namespace

absl::Status RecordDatabase::ForEachRecord(const RecordFilter& filter,
                                           const std::function<absl::Status(const Record&)>& visit,
                                           int64_t* unreadable) {
  ASSIGN_OR_RETURN(const WhereClause where, Where(filter));
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(
      SqliteStatement rows,
      SqliteStatement::Prepare(
          *connection_, absl::StrCat("SELECT ", kRecordColumns, kRecordTables, where.sql, " ORDER BY r.id")));
  where.BindTo(rows);
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

absl::StatusOr<bool> RecordDatabase::IsSuperseded(int64_t id) {
  ASSIGN_OR_RETURN(
      SqliteStatement later,
      SqliteStatement::Prepare(
          *connection_,
          "SELECT 1 FROM records r JOIN records l ON l.task = r.task AND l.device = r.device AND l.threads = "
          "r.threads AND l.strategy = r.strategy AND l.strategy_version = r.strategy_version AND l.config = "
          "r.config WHERE r.id = ? AND ((l.outcome IN ('wrong_result', 'crashed') AND l.time_ms >= "
          "r.time_ms) "
          "OR (l.outcome = 'ok' AND l.cache = r.cache AND (l.time_ms, l.id) > (r.time_ms, r.id) AND "
          "(l.search = 'confirm' OR r.search <> 'confirm'))) LIMIT 1"));
  later.Start(id);
  return later.Step();
}

absl::StatusOr<std::vector<BestRecord>> RecordDatabase::Best(const RecordFilter& filter,
                                                             const BestOptions& options) {
  ASSIGN_OR_RETURN(const WhereClause where, Where(filter));
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(SqliteTransaction snapshot,
                   SqliteTransaction::Begin(*connection_, SqliteTransaction::Kind::kRead));
  ASSIGN_OR_RETURN(
      SqliteStatement rows,
      SqliteStatement::Prepare(
          *connection_,
          absl::StrCat("SELECT r.id, r.task, r.device, r.threads, r.strategy, r.strategy_version",
                       kRecordTables, where.sql, " AND r.outcome = 'ok' ",
                       "ORDER BY r.task, r.device, r.threads, r.search <> 'confirm', r.seconds, r.id")));
  where.BindTo(rows);
  // Rows of one key follow each other, confirmed ones (kConfirmation) before others, the fastest first. The
  // last in `best` is of the current key, if it has one.
  std::vector<BestRecord> best;
  Candidate current;
  bool has_best = false;
  while (true) {
    ASSIGN_OR_RETURN(const bool found, rows.Step());
    if (!found) return best;
    const Candidate candidate{rows.Integer(0), rows.Integer(1), rows.Text(2), rows.Integer(3),
                              IsPrior(options.versions, rows.Text(4), rows.Integer(5))};
    has_best = has_best && candidate.HasKeyOf(current);
    const bool replaces_prior = has_best && current.prior && !candidate.prior;
    if ((has_best && !replaces_prior) || (candidate.prior && !options.priors)) continue;
    ASSIGN_OR_RETURN(const bool is_superseded, IsSuperseded(candidate.id));
    if (is_superseded) continue;
    ASSIGN_OR_RETURN(std::optional<Record> record, RecordById(candidate.id));
    if (!record) continue;
    if (replaces_prior) best.pop_back();
    best.push_back({*std::move(record), candidate.prior});
    current = candidate;
    has_best = true;
  }
}

absl::StatusOr<std::vector<Record>> RecordDatabase::Failures(const RecordFilter& filter) {
  ASSIGN_OR_RETURN(const WhereClause where, Where(filter));
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(
      SqliteStatement rows,
      SqliteStatement::Prepare(
          *connection_,
          absl::StrCat(
              "SELECT ", kRecordColumns, kRecordTables, where.sql,
              " AND r.outcome <> 'ok' AND NOT EXISTS (SELECT 1 FROM records o WHERE o.task = r.task AND "
              "o.device = r.device AND o.threads = r.threads AND o.outcome = 'ok' AND o.strategy = "
              "r.strategy "
              "AND o.strategy_version = r.strategy_version AND o.config = r.config AND o.time_ms > "
              "r.time_ms) "
              "ORDER BY r.id")));
  where.BindTo(rows);
  std::vector<Record> failures;
  while (true) {
    ASSIGN_OR_RETURN(const bool found, rows.Step());
    if (!found) return failures;
    if (std::optional<Record> record = RecordOfRow(rows)) failures.push_back(*std::move(record));
  }
}

absl::StatusOr<std::vector<TaskEntry>> RecordDatabase::Tasks(const RecordFilter& filter) {
  ASSIGN_OR_RETURN(const WhereClause where, Where(filter));
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(
      SqliteStatement rows,
      SqliteStatement::Prepare(
          *connection_,
          absl::StrCat(
              "SELECT t.digest, t.text, t.flops, r.device, r.threads, count(*), sum(r.outcome <> 'ok'), "
              "min(CASE WHEN r.outcome = 'ok' THEN r.seconds END), max(r.time_ms)",
              kRecordTables, where.sql, " GROUP BY r.task, r.device, r.threads ORDER BY r.task")));
  where.BindTo(rows);
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
