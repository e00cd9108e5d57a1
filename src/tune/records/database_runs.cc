// The functions of RecordDatabase for runs and for removing records.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "tune/records/database.h"
#include "tune/records/database_rows.h"
#include "tune/records/known_times.h"

namespace attune {
namespace {

constexpr char kRunColumns[] =
    "id, model, model_digest, device, threads, options, start_ms, end_ms, state, untuned_seconds, "
    "tuned_seconds, "
    "stage_seconds";
constexpr char kInsertRun[] =
    "INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO ";
constexpr char kReplaceRun[] =
    "UPDATE SET model = excluded.model, model_digest = excluded.model_digest, device = excluded.device, "
    "threads = excluded.threads, options = excluded.options, start_ms = excluded.start_ms, "
    "end_ms = excluded.end_ms, state = excluded.state, untuned_seconds = excluded.untuned_seconds, "
    "tuned_seconds = excluded.tuned_seconds, stage_seconds = excluded.stage_seconds";

// Executes kInsertRun with this action on conflict, and returns whether that changed anything.
absl::StatusOr<bool> PutRun(SqliteConnection& connection, TuningRun run, std::string_view on_conflict) {
  RETURN_IF_ERROR(Annotate(Normalize(run), connection.path()));
  ASSIGN_OR_RETURN(SqliteStatement put,
                   SqliteStatement::Prepare(connection, absl::StrCat(kInsertRun, on_conflict)));
  RETURN_IF_ERROR(put.Run(run.id, run.model, run.model_digest, run.device, run.threads, run.options,
                          run.start_ms, run.end_ms, Name(run.state), run.untuned_seconds, run.tuned_seconds,
                          run.stage_seconds));
  return connection.changes() > 0;
}

// Creates the table `pruned` with the ids and runs of the records to remove.
absl::Status SelectPruned(SqliteConnection& connection, const PruneOptions& options) {
  ASSIGN_OR_RETURN(WhereClause where, Where(options.which));
  if (options.older_than_ms > 0) {
    absl::StrAppend(&where.sql, " AND r.time_ms < ?");
    where.values.emplace_back(options.older_than_ms);
  }
  if (options.keep_failed) absl::StrAppend(&where.sql, " AND r.outcome = 'ok'");
  // The best of all records of a key, not only of those that the filter selects.
  if (options.keep_best > 0) absl::StrAppend(&where.sql, " AND r.id NOT IN (SELECT id FROM temp.spared)");
  RETURN_IF_ERROR(connection.Execute("DROP TABLE IF EXISTS temp.pruned"));
  RETURN_IF_ERROR(connection.Execute("CREATE TEMP TABLE pruned (id INTEGER PRIMARY KEY, run TEXT NOT NULL)"));
  ASSIGN_OR_RETURN(
      SqliteStatement select,
      SqliteStatement::Prepare(
          connection, absl::StrCat("INSERT INTO temp.pruned SELECT r.id, r.run", kRecordTables, where.sql)));
  where.BindTo(select);
  while (true) {
    ASSIGN_OR_RETURN(const bool row, select.Step());
    if (!row) return absl::OkStatus();
  }
}

absl::StatusOr<int64_t> Delete(SqliteConnection& connection, const std::string& what) {
  RETURN_IF_ERROR(connection.Execute("DELETE FROM " + what));
  return connection.changes();
}

}  // namespace

absl::Status RecordDatabase::BeginRun(const TuningRun& run) {
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(const bool is_new, PutRun(*connection_, run, "NOTHING"));
  if (is_new) return absl::OkStatus();
  return absl::AlreadyExistsError(absl::StrCat(path(), ": has a run \"", run.id, "\" already"));
}

absl::Status RecordDatabase::FinishRun(const TuningRun& run) {
  const std::lock_guard lock(mutex_);
  return PutRun(*connection_, run, kReplaceRun).status();
}

absl::StatusOr<bool> RecordDatabase::MergeRun(const TuningRun& run) {
  TuningRun ended = run;
  if (ended.state == RunState::kRunning) ended.state = RunState::kInterrupted;
  const std::lock_guard lock(mutex_);
  return PutRun(*connection_, ended,
                absl::StrCat(kReplaceRun, " WHERE state = 'interrupted' AND excluded.state = 'finished'"));
}

absl::StatusOr<std::vector<TuningRun>> RecordDatabase::Runs() {
  const std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(
      SqliteStatement rows,
      SqliteStatement::Prepare(
          *connection_, absl::StrCat("SELECT ", kRunColumns, " FROM runs ORDER BY start_ms DESC, id")));
  std::vector<TuningRun> runs;
  while (true) {
    ASSIGN_OR_RETURN(const bool found, rows.Step());
    if (!found) return runs;
    if (std::optional<TuningRun> run = RunOfRow(rows)) runs.push_back(*std::move(run));
  }
}

absl::Status RecordDatabase::SelectSpared(int count) {
  RETURN_IF_ERROR(connection_->Execute("DROP TABLE IF EXISTS temp.spared"));
  RETURN_IF_ERROR(connection_->Execute("CREATE TEMP TABLE spared (id INTEGER PRIMARY KEY)"));
  ASSIGN_OR_RETURN(SqliteStatement insert,
                   SqliteStatement::Prepare(*connection_, "INSERT INTO temp.spared VALUES (?)"));
  const auto spare = [&](const KeyTimes& known) -> absl::Status {
    std::vector<size_t> ranked = RankTimes(known.current.times);
    ranked.resize(std::min(ranked.size(), static_cast<size_t>(count)));
    for (const size_t place : ranked) RETURN_IF_ERROR(insert.Run(known.current.ids[place]));
    return absl::OkStatus();
  };
  for (const CacheMode cache : {CacheMode::kCold, CacheMode::kWarm, CacheMode::kNetwork})
    RETURN_IF_ERROR(ForEachKey({.cache = cache}, std::nullopt, spare));
  return absl::OkStatus();
}

absl::StatusOr<PruneReport> RecordDatabase::Prune(const PruneOptions& options) {
  const std::lock_guard lock(mutex_);
  PruneReport report;
  {
    ASSIGN_OR_RETURN(SqliteTransaction transaction,
                     SqliteTransaction::Begin(*connection_, SqliteTransaction::Kind::kWrite));
    if (options.keep_best > 0) RETURN_IF_ERROR(SelectSpared(options.keep_best));
    RETURN_IF_ERROR(SelectPruned(*connection_, options));
    ASSIGN_OR_RETURN(report.records,
                     Delete(*connection_, "records WHERE id IN (SELECT id FROM temp.pruned)"));
    ASSIGN_OR_RETURN(report.tasks, Delete(*connection_, "tasks WHERE id NOT IN (SELECT task FROM records)"));
    ASSIGN_OR_RETURN(report.runs,
                     Delete(*connection_,
                            "runs WHERE state <> 'running' AND id IN (SELECT run FROM temp.pruned) AND "
                            "id NOT IN (SELECT run FROM records)"));
    if (options.dry_run) return report;  // the transaction is rolled back
    RETURN_IF_ERROR(transaction.Commit());
  }
  RETURN_IF_ERROR(connection_->Execute("PRAGMA incremental_vacuum"));
  return report;
}

absl::Status RecordDatabase::Checkpoint() {
  const std::lock_guard lock(mutex_);
  return connection_->Execute("PRAGMA wal_checkpoint(TRUNCATE)");
}

}  // namespace attune
