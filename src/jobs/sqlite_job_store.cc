#include "jobs/sqlite_job_store.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/sqlite/active_lock.h"
#include "base/sqlite/sqlite_schema.h"
#include "base/status.h"
#include "jobs/job_rows.h"
#include "jobs/kind.h"
#include "tune/records/database.h"

namespace attune {
namespace {

// A stage's facts that nobody searches for are JSON in its column `detail`.
constexpr const char* kStatements[] = {
    "CREATE TABLE schedules (id TEXT NOT NULL PRIMARY KEY, key TEXT NOT NULL, host TEXT NOT NULL, "
    "is_finished "
    "INTEGER NOT NULL, begin_ms INTEGER NOT NULL) STRICT",
    "CREATE INDEX schedules_by_key ON schedules (key, is_finished)",
    "CREATE TABLE jobs (schedule TEXT NOT NULL, number INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT NOT "
    "NULL, "
    "subject TEXT NOT NULL, owner TEXT NOT NULL, priority INTEGER NOT NULL, deadline_seconds REAL NOT NULL, "
    "settings TEXT NOT NULL, base TEXT NOT NULL, state INTEGER NOT NULL, position INTEGER NOT NULL, "
    "progress TEXT NOT NULL, result TEXT NOT NULL, error TEXT NOT NULL, measures_on TEXT NOT NULL DEFAULT "
    "'', "
    "files TEXT NOT NULL DEFAULT '[]', submission TEXT NOT NULL DEFAULT '', submitted_ms INTEGER NOT NULL "
    "DEFAULT 0, ended_ms INTEGER NOT NULL DEFAULT 0, agreement TEXT NOT NULL DEFAULT '', PRIMARY KEY "
    "(schedule, number)) STRICT",
    "CREATE TABLE stages (id INTEGER PRIMARY KEY, schedule TEXT NOT NULL, job INTEGER NOT NULL, name TEXT "
    "NOT "
    "NULL, outcome INTEGER NOT NULL, asked REAL NOT NULL, start REAL NOT NULL, end REAL NOT NULL, "
    "own_low REAL NOT NULL, own_median REAL NOT NULL, own_high REAL NOT NULL, detail TEXT NOT NULL) STRICT",
    "CREATE INDEX stages_by_schedule ON stages (schedule, id)",
    "CREATE INDEX stages_by_job ON stages (schedule, job, id)",
    "CREATE INDEX jobs_by_submission ON jobs (schedule, submission)",
    "CREATE INDEX jobs_by_state ON jobs (schedule, state, number)",
    "CREATE INDEX jobs_by_id ON jobs (schedule, id)",
};
constexpr SqliteUpgrade kUpgrades[] = {
    {1, "ALTER TABLE jobs ADD COLUMN measures_on TEXT NOT NULL DEFAULT ''"},
    {1, "ALTER TABLE jobs ADD COLUMN files TEXT NOT NULL DEFAULT '[]'"},
    {1, "ALTER TABLE jobs ADD COLUMN submission TEXT NOT NULL DEFAULT ''"},
    {1, "ALTER TABLE jobs ADD COLUMN submitted_ms INTEGER NOT NULL DEFAULT 0"},
    {1, "ALTER TABLE jobs ADD COLUMN ended_ms INTEGER NOT NULL DEFAULT 0"},
    {1, "CREATE INDEX stages_by_job ON stages (schedule, job, id)"},
    {1, "CREATE INDEX jobs_by_submission ON jobs (schedule, submission)"},
    {1, "CREATE INDEX jobs_by_state ON jobs (schedule, state, number)"},
    {1, "CREATE INDEX jobs_by_id ON jobs (schedule, id)"},
    {2, "ALTER TABLE jobs ADD COLUMN agreement TEXT NOT NULL DEFAULT ''"},
};
constexpr SqliteSchema kSchema = {.application_id = 0x41744A6F,  // "AtJo"
                                  .version = 3,
                                  .statements = kStatements,
                                  .upgrades = kUpgrades,
                                  .words = {.what = "job database", .flag = "--state"}};

std::string NewScheduleId() {
  std::random_device device;
  return absl::StrCat(absl::FormatTime("%Y%m%dT%H%M%SZ", absl::Now(), absl::UTCTimeZone()), "-",
                      absl::StrFormat("%08x", device()));
}

}  // namespace

absl::StatusOr<std::string> DefaultJobStorePath() {
  if (const char* path = std::getenv("ATTUNE_JOBS"); path != nullptr && *path != '\0')
    return std::string(path);
  // Beside the records of somebody who has not named any.
  const absl::StatusOr<std::string> records = DefaultRecordsPath([](const char* name) {
    return std::string_view(name) == "ATTUNE_RECORDS" ? nullptr : std::getenv(name);
  });
  if (!records.ok())
    return absl::NotFoundError("there is no home folder to keep jobs in; name a file with --state");
  return (std::filesystem::path(*records).parent_path() / "jobs.db").string();
}

absl::StatusOr<std::unique_ptr<SqliteJobStore>> SqliteJobStore::Open(const std::string& path) {
  RETURN_IF_ERROR(MakeFoldersOf(path, kSchema));
  ASSIGN_OR_RETURN(auto connection, SqliteConnection::Open(path, {}, kSchema.words));
  std::unique_ptr<SqliteJobStore> store(new SqliteJobStore(std::move(connection)));
  RETURN_IF_ERROR(PrepareDatabase(*store->connection_, kSchema, DatabaseAccess::kCreate));
  return store;
}

absl::StatusOr<std::string> SqliteJobStore::Unfinished(const std::string& key) {
  ASSIGN_OR_RETURN(SqliteStatement query,
                   SqliteStatement::Prepare(*connection_,
                                            "SELECT id FROM schedules WHERE key = ? AND is_finished = 0 "
                                            "ORDER BY begin_ms DESC, id LIMIT 1"));
  query.Start(std::string_view(key));
  ASSIGN_OR_RETURN(const bool found, query.Step());
  return found ? query.Text(0) : "";
}

absl::Status SqliteJobStore::InsertJob(const std::string& schedule, size_t number,
                                       const std::string& submission, const JobRecord& record) {
  const JobSpec& job = record.spec;
  const JobKind* kind = FindJobKind(job.kind);
  ASSIGN_OR_RETURN(
      SqliteStatement insert,
      SqliteStatement::Prepare(
          *connection_,
          "INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, '', ?, '', ?, ?, ?, ?, ?, ?)"));
  const int64_t now_ms = SystemClock().WallMillis();
  return insert.Run(std::string_view(schedule), static_cast<int64_t>(number), std::string_view(job.id),
                    std::string_view(job.kind), std::string_view(kind == nullptr ? "" : kind->subject(job)),
                    std::string_view(job.owner), job.priority, job.deadline_seconds.value_or(0),
                    std::string_view(job.settings.dump()), std::string_view(job.base),
                    static_cast<int64_t>(record.state), std::string_view(record.result),
                    std::string_view(job.on), std::string_view(FilesText(record.files)),
                    std::string_view(submission), now_ms, record.state == JobState::kUnfinished ? 0 : now_ms,
                    std::string_view(job.agreement));
}

absl::StatusOr<std::string> SqliteJobStore::Begin(const std::string& key, std::span<const JobSpec> jobs,
                                                  const std::string& host) {
  std::string id = NewScheduleId();
  ASSIGN_OR_RETURN(SqliteStatement schedule,
                   SqliteStatement::Prepare(*connection_, "INSERT INTO schedules VALUES (?, ?, ?, 0, ?)"));
  RETURN_IF_ERROR(schedule.Run(std::string_view(id), std::string_view(key), std::string_view(host),
                               SystemClock().WallMillis()));
  for (size_t number = 0; number < jobs.size(); ++number) {
    JobRecord job;
    job.spec = jobs[number];
    RETURN_IF_ERROR(InsertJob(id, number, "", job));
  }
  return id;
}

absl::Status SqliteJobStore::Lock(const std::string& schedule) {
  lock_.Close();
  ASSIGN_OR_RETURN(lock_, LockActive(connection_->path(), schedule));
  if (lock_.get() >= 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("these jobs are being run by another process already (schedule ", schedule, " in ",
                   connection_->path(), "); wait for it, or name another file with --state"));
}

absl::StatusOr<std::string> SqliteJobStore::UnfinishedOrNew(const std::string& key,
                                                            std::span<const JobSpec> jobs,
                                                            const std::string& host) {
  // In one step, so that of two processes with the same jobs only one begins them.
  ASSIGN_OR_RETURN(SqliteTransaction transaction,
                   SqliteTransaction::Begin(*connection_, SqliteTransaction::Kind::kWrite));
  ASSIGN_OR_RETURN(std::string id, Unfinished(key));
  if (!id.empty()) return id;
  ASSIGN_OR_RETURN(id, Begin(key, jobs, host));
  RETURN_IF_ERROR(transaction.Commit());
  return id;
}

absl::StatusOr<std::string> SqliteJobStore::Take(const std::string& key, std::span<const JobSpec> jobs,
                                                 const std::string& host) {
  for (;;) {
    ASSIGN_OR_RETURN(std::string id, UnfinishedOrNew(key, jobs, host));
    RETURN_IF_ERROR(Lock(id));
    // Another process may have finished it before we got the lock.
    ASSIGN_OR_RETURN(const std::string still, Unfinished(key));
    if (still == id) return id;
  }
}

absl::StatusOr<ScheduleRecord> SqliteJobStore::ResumeOrBegin(const std::string& key,
                                                             std::span<const JobSpec> jobs,
                                                             const std::string& host) {
  ScheduleRecord schedule;
  ASSIGN_OR_RETURN(schedule.id, Take(key, jobs, host));
  ASSIGN_OR_RETURN(auto records, Jobs(schedule.id, {}));
  for (auto& [number, record] : records) schedule.jobs.push_back(std::move(record));
  ASSIGN_OR_RETURN(schedule.stages, StagesWhere("stages.schedule = ?", INT64_MAX, schedule.id));
  for (const StageRecord& stage : schedule.stages) schedule.elapsed = std::max(schedule.elapsed, stage.end);
  return schedule;
}

absl::StatusOr<ScheduleRecord> SqliteJobStore::ResumeOrBeginEndless(const std::string& key) {
  ScheduleRecord schedule;
  ASSIGN_OR_RETURN(schedule.id, Take(key, {}, ""));
  ASSIGN_OR_RETURN(SqliteStatement latest,
                   SqliteStatement::Prepare(*connection_, "SELECT max(end) FROM stages WHERE schedule = ?"));
  latest.Start(std::string_view(schedule.id));
  RETURN_IF_ERROR(latest.Step().status());
  schedule.elapsed = latest.Real(0);
  return schedule;
}

absl::StatusOr<std::map<size_t, JobRecord>> SqliteJobStore::AddJobs(const std::string& schedule,
                                                                    const std::string& submission,
                                                                    std::span<const JobRecord> jobs) {
  ASSIGN_OR_RETURN(SqliteStatement last,
                   SqliteStatement::Prepare(*connection_, "SELECT max(number) FROM jobs WHERE schedule = ?"));
  ASSIGN_OR_RETURN(SqliteTransaction transaction,
                   SqliteTransaction::Begin(*connection_, SqliteTransaction::Kind::kWrite));
  ASSIGN_OR_RETURN(auto known, JobsOfSubmission(schedule, submission));
  if (!known.empty()) return known;
  last.Start(std::string_view(schedule));
  RETURN_IF_ERROR(last.Step().status());
  auto number = static_cast<size_t>(last.Integer(0));
  last.Reset();
  for (JobRecord job : jobs) {
    job.spec.id += absl::StrCat("-", ++number);
    RETURN_IF_ERROR(InsertJob(schedule, number, submission, job));
  }
  ASSIGN_OR_RETURN(known, JobsOfSubmission(schedule, submission));
  RETURN_IF_ERROR(transaction.Commit());
  return known;
}

template <typename... Values>
absl::StatusOr<std::map<size_t, JobRecord>> SqliteJobStore::JobsWhere(const std::string& where, int64_t most,
                                                                      const Values&... values) {
  const std::string query =
      absl::StrCat("SELECT ", kJobColumns, " FROM jobs WHERE ", where, " ORDER BY number DESC LIMIT ?");
  ASSIGN_OR_RETURN(SqliteStatement rows, SqliteStatement::Prepare(*connection_, query));
  rows.Start(values..., most);
  std::map<size_t, JobRecord> jobs;
  for (;;) {
    ASSIGN_OR_RETURN(const bool is_row, rows.Step());
    if (!is_row) return jobs;
    absl::StatusOr<JobRecord> job = ReadJob(rows);
    if (!job.ok()) return Annotate(job.status(), connection_->path());
    jobs.emplace(static_cast<size_t>(rows.Integer(0)), *std::move(job));
  }
}

absl::StatusOr<std::map<size_t, JobRecord>> SqliteJobStore::JobsOfSubmission(const std::string& schedule,
                                                                             const std::string& submission) {
  return JobsWhere("schedule = ? AND submission = ?", INT64_MAX, std::string_view(schedule),
                   std::string_view(submission));
}

absl::StatusOr<std::map<size_t, JobRecord>> SqliteJobStore::Jobs(const std::string& schedule,
                                                                 const JobQuery& query) {
  // A condition that always holds would keep SQLite from an index.
  const std::string where =
      absl::StrCat("schedule = ? AND ", query.id.empty() ? "? = ''" : "id = ?", " AND ",
                   query.owner.empty() ? "? = ''" : "owner = ?", " AND ",
                   query.before.empty() ? "? = ''"
                                        : "number < (SELECT other.number FROM jobs AS other WHERE "
                                          "other.schedule = jobs.schedule AND other.id = ?)",
                   query.state ? absl::StrCat(" AND state = ", static_cast<int>(*query.state)) : "");
  return JobsWhere(where, query.most, std::string_view(schedule), std::string_view(query.id),
                   std::string_view(query.owner), std::string_view(query.before));
}

template <typename... Values>
absl::StatusOr<std::vector<StageRecord>> SqliteJobStore::StagesWhere(const std::string& where, int64_t most,
                                                                     const Values&... values) {
  const std::string query =
      absl::StrCat("SELECT ", kStageColumns, " WHERE ", where, " ORDER BY stages.id DESC LIMIT ?");
  ASSIGN_OR_RETURN(SqliteStatement rows, SqliteStatement::Prepare(*connection_, query));
  rows.Start(values..., most);
  std::vector<StageRecord> stages;
  for (;;) {
    ASSIGN_OR_RETURN(const bool is_row, rows.Step());
    if (!is_row) break;
    absl::StatusOr<StageRecord> stage = ReadStage(rows);
    if (!stage.ok()) return Annotate(stage.status(), connection_->path());
    stages.push_back(*std::move(stage));
  }
  std::ranges::reverse(stages);
  return stages;
}

absl::StatusOr<std::vector<StageRecord>> SqliteJobStore::Stages(const std::string& schedule, size_t job,
                                                                int64_t most) {
  return StagesWhere("stages.schedule = ? AND stages.job = ?", most, std::string_view(schedule),
                     static_cast<int64_t>(job));
}

absl::Status SqliteJobStore::EndStage(const std::string& schedule, size_t index, const JobRecord& job,
                                      const StageRecord& stage) {
  ASSIGN_OR_RETURN(SqliteStatement insert,
                   SqliteStatement::Prepare(*connection_,
                                            "INSERT INTO stages (schedule, job, name, outcome, asked, start, "
                                            "end, own_low, own_median, own_high, detail) VALUES (?, ?, ?, ?, "
                                            "?, ?, ?, ?, ?, ?, ?)"));
  ASSIGN_OR_RETURN(SqliteTransaction transaction,
                   SqliteTransaction::Begin(*connection_, SqliteTransaction::Kind::kWrite));
  RETURN_IF_ERROR(insert.Run(std::string_view(schedule), static_cast<int64_t>(index),
                             std::string_view(stage.stage.name), static_cast<int64_t>(stage.outcome),
                             stage.asked, stage.start, stage.end, stage.own.low, stage.own.median,
                             stage.own.high, std::string_view(DetailOf(stage))));
  RETURN_IF_ERROR(SetJob(schedule, index, job));
  return transaction.Commit();
}

absl::Status SqliteJobStore::SetJob(const std::string& schedule, size_t index, const JobRecord& job) {
  ASSIGN_OR_RETURN(
      SqliteStatement update,
      SqliteStatement::Prepare(*connection_,
                               "UPDATE jobs SET state = ?, position = ?, progress = ?, result = ?, error = "
                               "?, files = ?, ended_ms = iif(ended_ms = 0, ?, ended_ms) WHERE schedule = ? "
                               "AND number = ?"));
  const int64_t ended_ms = job.state == JobState::kUnfinished ? 0 : SystemClock().WallMillis();
  return update.Run(static_cast<int64_t>(job.state), job.position, std::string_view(job.progress),
                    std::string_view(job.result), std::string_view(job.error),
                    std::string_view(FilesText(job.files)), ended_ms, std::string_view(schedule),
                    static_cast<int64_t>(index));
}

absl::Status SqliteJobStore::Finish(const std::string& schedule) {
  ASSIGN_OR_RETURN(
      SqliteStatement update,
      SqliteStatement::Prepare(*connection_, "UPDATE schedules SET is_finished = 1 WHERE id = ?"));
  return update.Run(std::string_view(schedule));
}

absl::StatusOr<std::vector<PastStage>> SqliteJobStore::PastStages(int64_t most) {
  ASSIGN_OR_RETURN(
      SqliteStatement rows,
      SqliteStatement::Prepare(
          *connection_,
          "SELECT kind, subject, host, name, own_low, own_median, own_high, end - start FROM (SELECT * FROM "
          "stages WHERE outcome = 0 ORDER BY id DESC LIMIT ?) AS latest JOIN jobs ON jobs.schedule = "
          "latest.schedule AND jobs.number = latest.job JOIN schedules ON schedules.id = latest.schedule "
          "ORDER BY latest.id"));
  rows.Start(most);
  std::vector<PastStage> stages;
  for (;;) {
    ASSIGN_OR_RETURN(const bool is_row, rows.Step());
    if (!is_row) return stages;
    stages.push_back({.kind = rows.Text(0),
                      .subject = rows.Text(1),
                      .host = rows.Text(2),
                      .name = rows.Text(3),
                      .own = {rows.Real(4), rows.Real(5), rows.Real(6)},
                      .seconds = rows.Real(7)});
  }
}

}  // namespace attune
