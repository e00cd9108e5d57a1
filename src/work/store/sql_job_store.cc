#include "work/store/sql_job_store.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <random>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "base/sqlite/active_lock.h"
#include "base/status.h"
#include "base/user_path.h"
#include "work/job/job_id.h"
#include "work/store/job_rows.h"

namespace attune {
namespace {

std::string NewScheduleId() {
  std::random_device device;
  return absl::StrCat(absl::FormatTime("%Y%m%dT%H%M%SZ", absl::Now(), absl::UTCTimeZone()), "-",
                      absl::StrFormat("%08x", device()));
}

absl::StatusOr<double> ReadReal(const SqlRow& row) { return row.Real(0); }

absl::StatusOr<PastStage> ReadPastStage(const SqlRow& row) {
  return PastStage{.kind = row.Text(0),
                   .subject = row.Text(1),
                   .host = row.Text(2),
                   .name = row.Text(3),
                   .own = {row.Real(4), row.Real(5), row.Real(6)},
                   .seconds = row.Real(7)};
}

using NumberedJob = std::pair<size_t, JobRecord>;
absl::StatusOr<NumberedJob> ReadNumbered(const SqlRow& row) {
  ASSIGN_OR_RETURN(JobRecord job, ReadJob(row));
  return NumberedJob(static_cast<size_t>(row.Integer(0)), std::move(job));
}

// The id of the schedule with this key; empty if there is none.
absl::StatusOr<std::string> Unfinished(SqlSession& session, const std::string& key) {
  ASSIGN_OR_RETURN(
      const std::optional<std::string> id,
      ReadRow(session, ReadText,
              "SELECT id FROM schedules WHERE key = ? AND is_finished = 0 ORDER BY begin_ms DESC, id LIMIT 1",
              key));
  return id.value_or("");
}

// The columns of a job, with nothing in those that the query does not want.
std::string ColumnsFor(const JobQuery& query) {
  constexpr const char* kResults[] = {"result", "CASE WHEN agreement = '' THEN '' ELSE result END", "''"};
  return absl::StrReplaceAll(
      kJobColumns, {{" files,", query.with_files ? " files," : " '[]',"},
                    {" result,", absl::StrCat(" ", kResults[static_cast<size_t>(query.results)], ",")}});
}

// The jobs that a WHERE clause selects, at most `most` of the latest.
template <typename... Values>
absl::StatusOr<std::map<size_t, JobRecord>> JobsWhere(SqlSession& session, const std::string& columns,
                                                      const std::string& where, int64_t most,
                                                      const Values&... values) {
  const std::string query =
      absl::StrCat("SELECT ", columns, " FROM jobs WHERE ", where, " ORDER BY number DESC LIMIT ?");
  ASSIGN_OR_RETURN(std::vector<NumberedJob> rows, ReadRows(session, ReadNumbered, query, values..., most));
  return std::map<size_t, JobRecord>(std::move_iterator(rows.begin()), std::move_iterator(rows.end()));
}

absl::StatusOr<std::map<size_t, JobRecord>> JobsOfSubmission(SqlSession& session, const std::string& schedule,
                                                             const std::string& submission) {
  return JobsWhere(session, kJobColumns, "schedule = ? AND submission = ?", INT64_MAX, schedule, submission);
}

}  // namespace

absl::StatusOr<std::string> DefaultJobStorePath() {
  std::optional<std::string> path = FindUserPath({.variable = "ATTUNE_JOBS",
                                                  .xdg_variable = "XDG_DATA_HOME",
                                                  .home_folder = ".local/share",
                                                  .name = "attune/jobs.db"},
                                                 [](const char* name) { return std::getenv(name); });
  if (path) return *std::move(path);
  return absl::NotFoundError("there is no home folder to keep jobs in; name a file with --state");
}

absl::StatusOr<std::unique_ptr<SqlJobStore>> SqlJobStore::Open(const std::string& path, JobKinds kinds) {
  ASSIGN_OR_RETURN(auto database, OpenSqlite(path, JobSchema()));
  return std::unique_ptr<SqlJobStore>(new SqlJobStore(std::move(database), path, kinds));
}

absl::StatusOr<std::unique_ptr<SqlJobStore>> SqlJobStore::Open(const SqlLocation& location, JobKinds kinds) {
  ASSIGN_OR_RETURN(auto database, location.Open(JobSchema()));
  const std::string path = location.is_postgres() ? "" : database->name();
  return std::unique_ptr<SqlJobStore>(new SqlJobStore(std::move(database), path, kinds));
}

absl::Status SqlJobStore::InsertJob(SqlSession& session, const std::string& schedule, size_t number,
                                    const std::string& submission, const JobRecord& record,
                                    int64_t own_number) {
  const JobSpec& job = record.spec;
  const int64_t now_ms = SystemClock().WallMillis();
  return Execute(session,
                 "INSERT INTO jobs (schedule, number, id, kind, subject, owner, priority, deadline_seconds, "
                 "settings, base, state, position, progress, result, error, measures_on, files, submission, "
                 "submitted_ms, ended_ms, agreement, parts, part, whole, own_number) VALUES (?, ?, ?, ?, ?, "
                 "?, ?, ?, ?, ?, ?, 0, '', ?, '', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                 schedule, number, job.id, job.kind, kinds_.SubjectOf(job), job.owner, job.priority,
                 job.deadline_seconds.value_or(0), job.settings.dump(), job.base,
                 static_cast<int>(record.state), record.result, job.on, FilesText(record.files), submission,
                 now_ms, record.state == JobState::kUnfinished ? 0 : now_ms, job.agreement, job.parts,
                 job.part, static_cast<int64_t>(record.whole), own_number);
}

absl::StatusOr<std::string> SqlJobStore::Begin(SqlSession& session, const std::string& key,
                                               std::span<const JobSpec> jobs, const std::string& host) {
  std::string id = NewScheduleId();
  RETURN_IF_ERROR(Execute(session, "INSERT INTO schedules VALUES (?, ?, ?, 0, ?)", id, key, host,
                          SystemClock().WallMillis()));
  for (size_t number = 0; number < jobs.size(); ++number) {
    JobRecord job;
    job.spec = jobs[number];
    RETURN_IF_ERROR(InsertJob(session, id, number, "", job, static_cast<int64_t>(number)));
  }
  return id;
}

absl::Status SqlJobStore::Lock(const std::string& schedule) {
  if (path_.empty()) return absl::OkStatus();
  lock_.Close();
  ASSIGN_OR_RETURN(lock_, LockActive(path_, schedule));
  if (lock_.get() >= 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("these jobs are being run by another process already (schedule ", schedule, " in ", path_,
                   "); wait for it, or name another file with --state"));
}

absl::StatusOr<std::string> SqlJobStore::UnfinishedOrNew(const std::string& key,
                                                         std::span<const JobSpec> jobs,
                                                         const std::string& host) {
  // In one step, so that of two processes with the same jobs only one begins them.
  return database_->Write([&](SqlSession& session) -> absl::StatusOr<std::string> {
    ASSIGN_OR_RETURN(const std::string id, Unfinished(session, key));
    return id.empty() ? Begin(session, key, jobs, host) : id;
  });
}

absl::StatusOr<std::string> SqlJobStore::Take(const std::string& key, std::span<const JobSpec> jobs,
                                              const std::string& host) {
  for (;;) {
    ASSIGN_OR_RETURN(std::string id, UnfinishedOrNew(key, jobs, host));
    RETURN_IF_ERROR(Lock(id));
    // Another process may have finished it before we got the lock.
    ASSIGN_OR_RETURN(const std::string still,
                     database_->Read([&](SqlSession& session) { return Unfinished(session, key); }));
    if (still == id) return id;
  }
}

absl::StatusOr<ScheduleRecord> SqlJobStore::ResumeOrBegin(const std::string& key,
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

absl::StatusOr<ScheduleRecord> SqlJobStore::ResumeOrBeginEndless(const std::string& key) {
  ScheduleRecord schedule;
  ASSIGN_OR_RETURN(schedule.id, Take(key, {}, ""));
  ASSIGN_OR_RETURN(
      const std::optional<double> latest,
      ReadRow(*database_, ReadReal, "SELECT max(\"end\") FROM stages WHERE schedule = ?", schedule.id));
  schedule.elapsed = latest.value_or(0);
  return schedule;
}

absl::StatusOr<std::map<size_t, JobRecord>> SqlJobStore::AddSubmission(SqlSession& session,
                                                                       const std::string& schedule,
                                                                       const JobSubmission& submission) {
  ASSIGN_OR_RETURN(auto known, JobsOfSubmission(session, schedule, submission.key));
  if (!known.empty() || submission.jobs.empty()) return known;
  ASSIGN_OR_RETURN(const int64_t last,
                   ReadInteger(session, "SELECT max(number) FROM jobs WHERE schedule = ?", schedule));
  auto number = static_cast<size_t>(last);
  int64_t own_number = 0;
  JobRecord whole;
  for (JobRecord job : submission.jobs) {
    ++number;
    if (job.spec.part > 0) {
      job.spec.id = absl::StrCat(whole.spec.id, kPartEnding, job.spec.part);
      job.whole = whole.whole;
    } else {
      ASSIGN_OR_RETURN(
          const int64_t own_last,
          ReadInteger(session, "SELECT max(own_number) FROM jobs WHERE schedule = ? AND owner = ?", schedule,
                      job.spec.owner));
      own_number = own_last + 1;
      job.spec.id = StoredJobId(absl::StrCat(job.spec.id, "-", own_number), job.spec.owner);
      whole = job;
      whole.whole = number;
    }
    RETURN_IF_ERROR(InsertJob(session, schedule, number, submission.key, job, own_number));
  }
  return JobsOfSubmission(session, schedule, submission.key);
}

absl::StatusOr<std::vector<std::map<size_t, JobRecord>>> SqlJobStore::AddJobs(
    const std::string& schedule, const std::vector<JobSubmission>& submissions) {
  using Added = std::vector<std::map<size_t, JobRecord>>;
  return database_->Write([&](SqlSession& session) -> absl::StatusOr<Added> {
    Added added;
    for (const JobSubmission& submission : submissions) {
      ASSIGN_OR_RETURN(auto jobs, AddSubmission(session, schedule, submission));
      added.push_back(std::move(jobs));
    }
    return added;
  });
}

absl::StatusOr<std::map<size_t, JobRecord>> SqlJobStore::Jobs(const std::string& schedule,
                                                              const JobQuery& query) {
  // An owner knows a job by its short id.
  const auto stored = [&](const std::string& id) { return id.empty() ? id : StoredJobId(id, query.owner); };
  // A condition that always holds would keep SQLite from an index.
  const std::string where = absl::StrCat(
      "schedule = ? AND ", query.id.empty() ? "? = ?" : "id IN (?, ?)", " AND ",
      query.owner.empty() ? "? = ''" : "owner = ?", " AND ",
      query.before.empty() ? "? = ?"
                           : "number < (SELECT other.number FROM jobs AS other WHERE other.schedule = "
                             "jobs.schedule AND other.id IN (?, ?) ORDER BY other.number DESC LIMIT 1)",
      query.parts_of                          ? absl::StrCat(" AND whole = ", *query.parts_of)
      : query.with_parts || !query.id.empty() ? ""
                                              : " AND whole = 0",
      query.state ? absl::StrCat(" AND state = ", static_cast<int>(*query.state)) : "");
  return database_->Read([&](SqlSession& session) {
    return JobsWhere(session, ColumnsFor(query), where, query.most, schedule, query.id, stored(query.id),
                     query.owner, query.before, stored(query.before));
  });
}

template <typename... Values>
absl::StatusOr<std::vector<StageRecord>> SqlJobStore::StagesWhere(const std::string& where, int64_t most,
                                                                  const Values&... values) {
  const std::string query =
      absl::StrCat("SELECT ", kStageColumns, " WHERE ", where, " ORDER BY stages.id DESC LIMIT ?");
  ASSIGN_OR_RETURN(std::vector<StageRecord> stages, ReadRows(*database_, ReadStage, query, values..., most));
  std::ranges::reverse(stages);
  return stages;
}

absl::StatusOr<std::vector<StageRecord>> SqlJobStore::Stages(const std::string& schedule, size_t job,
                                                             int64_t most) {
  return StagesWhere("stages.schedule = ? AND stages.job = ?", most, schedule, job);
}

absl::Status SqlJobStore::EndStage(const std::string& schedule, size_t index, const JobRecord& job,
                                   const StageRecord& stage) {
  return database_->Write([&](SqlSession& session) -> absl::Status {
    RETURN_IF_ERROR(Execute(session,
                            "INSERT INTO stages (schedule, job, name, outcome, asked, start, \"end\", "
                            "own_low, own_median, own_high, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                            schedule, index, stage.stage.name, static_cast<int>(stage.outcome), stage.asked,
                            stage.start, stage.end, stage.own.low, stage.own.median, stage.own.high,
                            DetailOf(stage)));
    return UpdateJob(session, schedule, index, job);
  });
}

absl::Status SqlJobStore::SetJob(const std::string& schedule, size_t index, const JobRecord& job) {
  return database_->Write([&](SqlSession& session) { return UpdateJob(session, schedule, index, job); });
}

absl::Status SqlJobStore::UpdateJob(SqlSession& session, const std::string& schedule, size_t index,
                                    const JobRecord& job) {
  const int64_t ended_ms = job.state == JobState::kUnfinished ? 0 : SystemClock().WallMillis();
  return Execute(
      session,
      "UPDATE jobs SET state = ?, position = ?, progress = ?, result = ?, error = ?, files = ?, ended_ms = "
      "CASE WHEN ended_ms = 0 THEN ? ELSE ended_ms END WHERE schedule = ? AND number = ?",
      static_cast<int>(job.state), job.position, job.progress, job.result, job.error, FilesText(job.files),
      ended_ms, schedule, index);
}

absl::Status SqlJobStore::Finish(const std::string& schedule) {
  return Execute(*database_, "UPDATE schedules SET is_finished = 1 WHERE id = ?", schedule);
}

absl::Status SqlJobStore::RemoveJobs(const std::string& schedule, const std::vector<size_t>& jobs) {
  return database_->Write([&](SqlSession& session) -> absl::Status {
    for (const size_t number : jobs) {
      RETURN_IF_ERROR(
          Execute(session, "DELETE FROM stages WHERE schedule = ? AND job = ?", schedule, number));
      RETURN_IF_ERROR(
          Execute(session, "DELETE FROM jobs WHERE schedule = ? AND number = ?", schedule, number));
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<std::vector<PastStage>> SqlJobStore::PastStages(int64_t most) {
  return ReadRows(*database_, ReadPastStage,
                  "SELECT kind, subject, host, name, own_low, own_median, own_high, \"end\" - start FROM "
                  "(SELECT * FROM stages WHERE outcome = 0 ORDER BY id DESC LIMIT ?) AS latest JOIN jobs ON "
                  "jobs.schedule = latest.schedule AND jobs.number = latest.job JOIN schedules ON "
                  "schedules.id = latest.schedule ORDER BY latest.id",
                  most);
}

}  // namespace attune
