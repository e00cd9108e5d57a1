// Runs the jobs of a schedule on one host, in runners, with a strategy.
//
// Problem: the scheduler is pure, jobs are passive, and any process may die at any moment. Idea: one loop. It
// starts what the scheduler grants, waits for what runners report, stores each stage that has ended before
// anything follows from it, and asks again. So a schedule that is killed goes on from the store. Cost: a
// transaction for each stage.
#ifndef ATTUNE_JOBS_SCHEDULE_DRIVER_H_
#define ATTUNE_JOBS_SCHEDULE_DRIVER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "jobs/job_manager.h"
#include "jobs/job_store.h"
#include "jobs/local_host.h"
#include "jobs/runners.h"
#include "jobs/stage_log.h"
#include "sched/predictions.h"
#include "sched/scheduler.h"
#include "sched/strategy.h"

namespace attune {

struct ScheduleDriverOptions {
  const SchedulingStrategy* strategy = nullptr;  // must outlive the driver
  LocalHost host;
  int64_t jobs_at_once = 16;  // that are in memory; others have not begun
};

// Fails, naming the job, if one of them is wrong or asks for what the host can never grant, as far as that
// can be foreseen.
absl::Status CheckJobs(const std::vector<JobSpec>& jobs, const LocalHost& host);

// Not thread safe.
class ScheduleDriver {
 public:
  // Goes on with `schedule`, as the store returned it. All must outlive the driver.
  ScheduleDriver(ScheduleRecord schedule, ScheduleDriverOptions options, JobStore& store, Runners& runners,
                 const Clock& clock = SystemClock());

  // Runs until all jobs are over. If it is cancelled, stages that run are cancelled too, and it returns
  // Cancelled soon; the schedule can go on later. Calls `changed` whenever something has changed, and ten
  // times a second. Fails if the store does. That a job fails is no error of this function.
  absl::Status Run(const Cancellation& cancellation, const std::function<void()>& changed = nullptr);

  // The results are kept elsewhere: the same jobs would begin anew.
  absl::Status Finish();

  // From now on, this strategy decides. Stages that run are not disturbed.
  void Use(const SchedulingStrategy& strategy);

  // The schedule so far, with all jobs and the stages that have ended.
  const ScheduleRecord& schedule() const { return schedule_; }
  const std::vector<JobManager>& jobs() const { return jobs_; }
  double Now() const;  // seconds since the schedule began

 private:
  absl::Status Learn();
  absl::Status Admit();
  absl::Status Start(const StageStart& start);
  absl::Status Handle(const RunnerEvent& event);
  // Stores a stage that has ended, and asks for the job's next one.
  absl::Status Record(size_t index, const StageRecord& stage);
  absl::Status StopAll();
  RunStage Command(const JobManager& job, const Holding& holding) const;
  absl::Status SetFailed(size_t index);
  // The scheduler knows the job no more.
  void Leave(size_t index);

  ScheduleRecord schedule_;
  const ScheduleDriverOptions options_;
  const SchedulingStrategy* strategy_;
  JobStore& store_;
  Runners& runners_;
  const Clock& clock_;

  Scheduler scheduler_;
  StagePredictions predictions_;
  std::vector<JobManager> jobs_;
  std::vector<size_t> waiting_;          // jobs that have not begun, in the strategy's order from its end
  std::map<int64_t, size_t> by_number_;  // jobs by the scheduler's number
  std::map<int64_t, size_t> by_runner_;
  std::map<size_t, int64_t> numbers_;  // the scheduler's, by job
  const double before_;                // seconds in which the schedule ran in other processes
  const double begin_;                 // on the clock
};

}  // namespace attune

#endif  // ATTUNE_JOBS_SCHEDULE_DRIVER_H_
