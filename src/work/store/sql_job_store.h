// The store of jobs in a database.
#ifndef ATTUNE_WORK_STORE_SQL_JOB_STORE_H_
#define ATTUNE_WORK_STORE_SQL_JOB_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "base/sql/sql_database.h"
#include "work/job/kind.h"
#include "work/store/job_store.h"

namespace attune {

const SqlSchema& JobSchema();

// Errors name the database. Several processes may use the same one for different schedules.
class SqlJobStore final : public JobStore {
 public:
  // As OpenSqlite().
  static absl::StatusOr<std::unique_ptr<SqlJobStore>> Open(const std::string& path, JobKinds kinds);
  // As SqlLocation::Open(). In PostgreSQL, it is up to the caller that one process alone runs a schedule.
  static absl::StatusOr<std::unique_ptr<SqlJobStore>> Open(const SqlLocation& location, JobKinds kinds);

  std::string folder() const override { return path_ + ".files"; }
  absl::StatusOr<ScheduleRecord> ResumeOrBegin(const std::string& key, std::span<const JobSpec> jobs,
                                               const std::string& host) override;
  absl::StatusOr<ScheduleRecord> ResumeOrBeginEndless(const std::string& key) override;
  absl::StatusOr<std::vector<std::map<size_t, JobRecord>>> AddJobs(
      const std::string& schedule, const std::vector<JobSubmission>& submissions) override;
  absl::StatusOr<std::map<size_t, JobRecord>> Jobs(const std::string& schedule,
                                                   const JobQuery& query) override;
  absl::StatusOr<std::vector<StageRecord>> Stages(const std::string& schedule, size_t job,
                                                  int64_t most) override;
  absl::Status EndStage(const std::string& schedule, size_t index, const JobRecord& job,
                        const StageRecord& stage) override;
  absl::Status SetJob(const std::string& schedule, size_t index, const JobRecord& job) override;
  absl::Status Finish(const std::string& schedule) override;
  absl::Status RemoveJobs(const std::string& schedule, const std::vector<size_t>& jobs) override;
  absl::StatusOr<std::vector<PastStage>> PastStages(int64_t most) override;

 private:
  SqlJobStore(std::unique_ptr<SqlDatabase> database, std::string path, JobKinds kinds)
      : database_(std::move(database)), path_(std::move(path)), kinds_(kinds) {}

  absl::StatusOr<std::string> UnfinishedOrNew(const std::string& key, std::span<const JobSpec> jobs,
                                              const std::string& host);
  absl::StatusOr<std::string> Begin(SqlSession& session, const std::string& key,
                                    std::span<const JobSpec> jobs, const std::string& host);
  absl::StatusOr<std::map<size_t, JobRecord>> AddSubmission(SqlSession& session, const std::string& schedule,
                                                            const JobSubmission& submission);
  absl::Status InsertJob(SqlSession& session, const std::string& schedule, size_t number,
                         const std::string& submission, const JobRecord& job, int64_t own_number);
  static absl::Status UpdateJob(SqlSession& session, const std::string& schedule, size_t index,
                                const JobRecord& job);
  // The unfinished schedule with this key, or a new one, which is this object's now.
  absl::StatusOr<std::string> Take(const std::string& key, std::span<const JobSpec> jobs,
                                   const std::string& host);
  // The stages that a WHERE clause selects, at most `most` of the latest, in the order of their ends.
  template <typename... Values>
  absl::StatusOr<std::vector<StageRecord>> StagesWhere(const std::string& where, int64_t most,
                                                       const Values&... values);
  // Takes the lock of the schedule, which ends with the process.
  absl::Status Lock(const std::string& schedule);

  const std::unique_ptr<SqlDatabase> database_;
  const std::string path_;  // of the SQLite file; empty: it is another database
  const JobKinds kinds_;    // whose subjects are stored with the jobs
  FileDescriptor lock_;
};

// $ATTUNE_JOBS, else jobs.db beside the records. Fails if there is no home folder.
absl::StatusOr<std::string> DefaultJobStorePath();

}  // namespace attune

#endif  // ATTUNE_WORK_STORE_SQL_JOB_STORE_H_
