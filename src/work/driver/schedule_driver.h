// Runs the jobs of a schedule on hosts, in runners, with a strategy.
//
// Problem: the scheduler is pure, jobs are passive, and any process may die at any moment. Idea: one loop. It
// starts what the scheduler grants, waits for what runners report, stores each stage that has ended before
// anything follows from it, and asks again. So a schedule that is killed resumes from the store. Cost: a
// transaction for each stage.
//
// Jobs and hosts may come and go while it runs. A job stays in its runner, and so on the runner's host; a
// device elsewhere, on which jobs of any host measure, is a host of its own.
#ifndef ATTUNE_WORK_DRIVER_SCHEDULE_DRIVER_H_
#define ATTUNE_WORK_DRIVER_SCHEDULE_DRIVER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/cancel.h"
#include "base/clock.h"
#include "work/admission/job_admission.h"
#include "work/driver/host_table.h"
#include "work/driver/job_manager.h"
#include "work/driver/job_predictions.h"
#include "work/driver/job_runners.h"
#include "work/driver/local_host.h"
#include "work/driver/runners.h"
#include "work/driver/schedule_log.h"
#include "work/driver/scheduled_jobs.h"
#include "work/driver/split_jobs.h"
#include "work/job/kind.h"
#include "work/sched/scheduler.h"
#include "work/sched/strategy.h"
#include "work/store/job_store.h"
#include "work/store/stage_log.h"

namespace attune {

struct ScheduleDriverOptions {
  const SchedulingStrategy* strategy = nullptr;  // must outlive the driver
  JobKinds kinds = JobKinds({});                 // of the jobs that it knows
  int64_t jobs_at_once = 16;                     // that have begun, for each host that they can be on
  // Whether jobs come and go: what no host can grant now waits for one that can, and the driver forgets jobs
  // that are over, and all stages.
  bool is_endless = false;
  // The slots (HostResources) that the host of such a job's runner must have; null: any host will do.
  std::function<std::vector<std::string>(const JobSpec&)> slots_of = nullptr;
  // The key by which such a job asks for a device elsewhere; null: its `on`.
  std::function<std::string(const JobSpec&)> device_key = nullptr;
  // The files that a whole job begins with: its own, and those of its parts, which are over; null: its own.
  std::function<absl::StatusOr<std::vector<JobFile>>(const JobRecord& whole,
                                                     const std::map<size_t, JobRecord>& parts)>
      gather = nullptr;
  // Called with each job whose stage was stored; may be null.
  std::function<void(const JobRecord& job, const StageRecord& stage)> on_stored = nullptr;
  // Called with each job that is over, once it has no runner any more; may be null.
  std::function<void(const JobRecord& job)> on_over = nullptr;

  JobGroup GroupOf(const JobSpec& job) const { return slots_of ? slots_of(job) : JobGroup(); }
  std::string DeviceKeyOf(const JobSpec& job) const { return device_key ? device_key(job) : job.on; }
};

// Fails, naming the job, if one of them is wrong or asks for what the host can never grant, as far as that
// can be predicted.
absl::Status CheckJobs(const std::vector<JobSpec>& jobs, const LocalHost& host, JobKinds kinds);

// The loop that joins the parts of a running schedule. Between two calls, a job that is not over is in
// exactly one of these places: it waits for its parts (SplitJobs); it waits for its turn, or for hosts to
// change (JobAdmission); or the scheduler has it (ScheduledJobs). A job that is over is in none, but for one
// whose stage was cancelled and has not ended: the scheduler has it until then.
//
// Not thread safe.
class ScheduleDriver {
 public:
  // Resumes `schedule`, as the store returned it. All must outlive the driver.
  ScheduleDriver(ScheduleRecord schedule, ScheduleDriverOptions options, JobStore& store, Runners& runners,
                 const Clock& clock = SystemClock());

  // One more host with this name, for people. Returns its number, by which Runners::Start() knows it.
  int AddHost(LocalHost host, const std::string& name = "");
  // The host is gone, and with it its runners. Their jobs continue on other hosts.
  absl::Status RemoveHost(int host);
  // One more device elsewhere, that jobs ask for by any of these keys. Returns its number.
  int AddDevice(const std::set<std::string>& keys);
  // From now on, jobs ask for the device by these keys. Stages that it was granted for continue.
  void ChangeDevice(int device, const std::set<std::string>& keys);
  // The device is gone. A stage that it was granted for continues: it may have found another one.
  void RemoveDevice(int device);

  // A job that the store has got, with its number there. Parts that have not ended come before the next
  // Step().
  void Add(size_t number, JobRecord job);
  // The job ends soon, and keeps the files of its latest stage. Nothing happens if it is over.
  absl::Status Cancel(size_t number);
  // The same, but for this reason it has failed.
  absl::Status Fail(size_t number, const std::string& why);

  // Starts what can start, and waits at most `seconds` until something happens. Fails if the store does.
  absl::Status Step(double seconds);
  // Runs until all jobs are over. If it is cancelled, stages that run are cancelled too, and it returns
  // Cancelled soon; the schedule can be resumed later. Calls `changed` whenever something has changed, and
  // ten times a second. Fails if the store does. A failed job is no error of this function.
  absl::Status Run(const Cancellation& cancellation, const std::function<void()>& changed = nullptr);
  // Cuts short the stages that run, and ends all runners. Returns Cancelled, or the store's error.
  absl::Status StopAll();

  // The results are kept elsewhere: the same jobs would begin anew.
  absl::Status Finish();

  // The schedule so far, with all jobs and the stages that have ended; of an endless one, neither.
  const ScheduleRecord& schedule() const { return log_.schedule(); }
  // By number.
  const std::map<size_t, JobManager>& jobs() const { return jobs_; }
  // The parts of a whole job that have not ended.
  std::vector<size_t> UnfinishedPartsOf(size_t number) const { return split_.UnfinishedOf(number); }
  // Why no host can serve the job's next stage now; empty if one can.
  std::string WaitsFor(size_t number) const { return admission_.RefusalOf(number); }
  double Now() const { return log_.Now(); }  // seconds since the schedule began

 private:
  // The two halves of Step().
  absl::Status StartStages();
  absl::Status HandleEvents(double seconds);

  // Lets whole jobs follow when their parts are over.
  absl::Status FollowParts();
  absl::Status FollowPartsOf(size_t whole);
  // Gives waiting jobs to the scheduler.
  absl::Status Admit();
  void Wait(size_t number);
  // Hosts have changed: jobs that were refused wait again.
  void Readmit();
  // The scheduler has refused the job's next stage, and does not know the job.
  absl::Status Refuse(size_t number, const absl::Status& why);
  // Takes back what waits for hosts and devices that are gone.
  void RefuseUngrantable();

  // Takes a job away from a host that is busy while another one is idle.
  absl::Status MoveFromBusyHost();
  // The host on which the job is best opened; nothing if any will do.
  std::optional<int> ChooseHost(size_t number) const;
  // The job's next needs, with those that say where it may be.
  NextStage Ask(size_t number);
  // Asks the scheduler, which knows the job, for the next stage.
  absl::Status AskAgain(size_t number, bool has_run);
  // A job that waits has lost its runner.
  absl::Status AskElsewhere(size_t number);

  absl::Status Start(size_t number, const Holding& holding);
  absl::Status Handle(const RunnerEvent& event);
  absl::Status Lose(size_t number, const RunnerLost& lost);
  // Cuts short the stage that the job runs, and ends its runner.
  StageRecord StopStage(size_t number, const std::string& reason);
  // Carries out Cancel() and Fail(); `end` says to the job which it is.
  absl::Status EndSoon(size_t number, const std::function<void(JobManager& job)>& end);
  // Stores a stage that has ended, and asks for the job's next one.
  absl::Status Record(size_t number, StageRecord stage);
  // The job is over, without a stage that has just ended.
  absl::Status SetOver(size_t number);
  // Ends the runner of a job that is over, and forgets the job if the schedule is endless.
  void Dismiss(size_t number);
  // The scheduler gives the device to no stage any more.
  void DropDevice(int device);

  const ScheduleDriverOptions options_;
  ScheduleLog log_;
  LearnedPredictions predictions_;
  std::map<size_t, JobManager> jobs_;
  SplitJobs split_;
  JobAdmission admission_;
  ScheduledJobs scheduled_;
  HostTable hosts_;
  RemoteDevices devices_;
  JobRunners runners_;
};

}  // namespace attune

#endif  // ATTUNE_WORK_DRIVER_SCHEDULE_DRIVER_H_
