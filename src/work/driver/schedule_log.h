// A schedule as it is stored: its jobs, its stages, and the time that it has run.
#ifndef ATTUNE_WORK_DRIVER_SCHEDULE_LOG_H_
#define ATTUNE_WORK_DRIVER_SCHEDULE_LOG_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "work/sched/resources.h"
#include "work/store/job_store.h"
#include "work/store/stage_log.h"

namespace attune {

// Nothing is in memory that is not in the store: a change is stored first. Memory holds neither the jobs nor
// the stages of an endless schedule, since they would become too many. All functions that return a status
// fail if the store does. Not thread safe.
class ScheduleLog {
 public:
  // Called with each job whose stage was stored.
  using OnStored = std::function<void(const JobRecord& job, const StageRecord& stage)>;

  // Resumes `schedule`, as the store returned it. Store and clock must outlive it; `on_stored` may be null.
  ScheduleLog(ScheduleRecord schedule, bool is_endless, JobStore& store, const Clock& clock,
              OnStored on_stored = nullptr);

  // Seconds since the schedule began, without the time in which no process ran it.
  double Now() const { return before_ + clock_.Now() - begin_; }

  // A stage of the job with this number has ended.
  absl::Status EndStage(size_t number, const JobRecord& job, StageRecord stage);
  // The job's state has changed without a stage.
  absl::Status SetJob(size_t number, const JobRecord& job);
  // Nothing of the schedule is left to do.
  absl::Status Finish() { return store_.Finish(schedule_.id); }
  // Returns all parts of a job, also those that are over.
  absl::StatusOr<std::map<size_t, JobRecord>> PartsOf(size_t whole);
  // Returns the folder for the job's files, which exists; the folders of an endless schedule's jobs are
  // elsewhere.
  absl::StatusOr<std::string> FolderOf(size_t number) const;

  // The host that a schedule that is not endless runs on from now on.
  void SetHost(const HostResources& host);
  void SetStrategy(std::string_view name) { schedule_.strategy = name; }

  const ScheduleRecord& schedule() const { return schedule_; }

 private:
  ScheduleRecord schedule_;
  const bool is_endless_;
  JobStore& store_;
  const Clock& clock_;
  const OnStored on_stored_;
  const double before_;  // seconds in which the schedule ran in other processes
  const double begin_;   // on the clock
};

}  // namespace attune

#endif  // ATTUNE_WORK_DRIVER_SCHEDULE_LOG_H_
