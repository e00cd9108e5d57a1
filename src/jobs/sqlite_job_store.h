// The store of jobs in one SQLite file.
#ifndef ATTUNE_JOBS_SQLITE_JOB_STORE_H_
#define ATTUNE_JOBS_SQLITE_JOB_STORE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "base/sqlite/sqlite.h"
#include "jobs/job_store.h"

namespace attune {

// Errors name the file. Several processes may use the same file for different schedules.
class SqliteJobStore final : public JobStore {
 public:
  // Creates the file and its folder if they are missing. Fails with one sentence if the file is damaged,
  // belongs to another program, or was written by a newer version.
  static absl::StatusOr<std::unique_ptr<SqliteJobStore>> Open(const std::string& path);

  std::string folder() const override { return connection_->path() + ".files"; }
  absl::StatusOr<ScheduleRecord> ResumeOrBegin(const std::string& key, std::span<const JobSpec> jobs,
                                               const std::string& host) override;
  absl::StatusOr<ScheduleRecord> ResumeOrBeginEndless(const std::string& key) override;
  absl::StatusOr<std::map<size_t, JobRecord>> AddJobs(const std::string& schedule,
                                                      const std::string& submission,
                                                      std::span<const JobRecord> jobs) override;
  absl::StatusOr<std::map<size_t, JobRecord>> Jobs(const std::string& schedule,
                                                   const JobQuery& query) override;
  absl::StatusOr<std::vector<StageRecord>> Stages(const std::string& schedule, size_t job,
                                                  int64_t most) override;
  absl::Status EndStage(const std::string& schedule, size_t index, const JobRecord& job,
                        const StageRecord& stage) override;
  absl::Status SetJob(const std::string& schedule, size_t index, const JobRecord& job) override;
  absl::Status Finish(const std::string& schedule) override;
  absl::StatusOr<std::vector<PastStage>> PastStages(int64_t most) override;

 private:
  explicit SqliteJobStore(std::unique_ptr<SqliteConnection> connection)
      : connection_(std::move(connection)) {}

  absl::StatusOr<std::string> Unfinished(const std::string& key);
  absl::StatusOr<std::string> UnfinishedOrNew(const std::string& key, std::span<const JobSpec> jobs,
                                              const std::string& host);
  absl::StatusOr<std::string> Begin(const std::string& key, std::span<const JobSpec> jobs,
                                    const std::string& host);
  absl::Status InsertJob(const std::string& schedule, size_t number, const std::string& submission,
                         const JobRecord& job);
  // The unfinished schedule with this key, or a new one, which is this object's now.
  absl::StatusOr<std::string> Take(const std::string& key, std::span<const JobSpec> jobs,
                                   const std::string& host);
  // The jobs that a WHERE clause selects, of the latest at most so many.
  template <typename... Values>
  absl::StatusOr<std::map<size_t, JobRecord>> JobsWhere(const std::string& where, int64_t most,
                                                        const Values&... values);
  absl::StatusOr<std::map<size_t, JobRecord>> JobsOfSubmission(const std::string& schedule,
                                                               const std::string& submission);
  // Likewise stages, in the order of their ends.
  template <typename... Values>
  absl::StatusOr<std::vector<StageRecord>> StagesWhere(const std::string& where, int64_t most,
                                                       const Values&... values);
  // Takes the lock of the schedule, which ends with the process.
  absl::Status Lock(const std::string& schedule);

  std::unique_ptr<SqliteConnection> connection_;
  FileDescriptor lock_;
};

// $ATTUNE_JOBS, else jobs.db beside the records. Fails if there is no home folder.
absl::StatusOr<std::string> DefaultJobStorePath();

}  // namespace attune

#endif  // ATTUNE_JOBS_SQLITE_JOB_STORE_H_
