// Keeps one job's position, and turns its stages into requests to the scheduler.
#ifndef ATTUNE_WORK_DRIVER_JOB_MANAGER_H_
#define ATTUNE_WORK_DRIVER_JOB_MANAGER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/job.h"
#include "work/driver/job_predictions.h"
#include "work/driver/runner_messages.h"
#include "work/job/job_spec.h"
#include "work/sched/predictions.h"
#include "work/sched/resources.h"
#include "work/sched/scheduler.h"
#include "work/store/stage_log.h"

namespace attune {

// One attempt to run a stage, from its request to its end.
//
// A stage is asked for, starts once resources were granted, and ends; then the next one is asked for, or the
// same one again. It runs if and only if it holds resources. Times are seconds since the schedule began. Not
// thread safe.
class StageAttempt {
 public:
  // The stage is asked for from now on. `own` is the job's own prediction of it.
  void Ask(NextStage next, const SecondsPrediction& own, double now);
  // It was granted these resources, and starts on the host of this name.
  void Start(const Holding& holding, const std::string& host, double now);
  // It has ended: returns the record of it, without the job. It must run.
  StageRecord End(StageOutcome outcome, double now);

  bool runs() const { return holding_.has_value(); }
  const NextStage& next() const { return next_; }
  const std::string& name() const { return next_.stage.name; }
  const SecondsPrediction& own() const { return own_; }
  const std::string& place() const { return place_; }  // the name of the host of the latest start
  double asked() const { return asked_; }
  double start() const { return start_; }  // if it runs

 private:
  NextStage next_;
  SecondsPrediction own_;
  double asked_ = 0, start_ = 0;
  std::optional<Holding> holding_;
  std::string place_;
};

// A job is first opened by a runner, which is a stage as well; and again by another runner if that one dies.
// Without a runner, its next stage is to open it.
//
// Knows neither clocks nor processes: times are seconds since the schedule began. Not thread safe.
class JobManager {
 public:
  // `subject`: JobKinds::SubjectOf() its spec.
  JobManager(JobRecord record, std::string subject);

  const JobRecord& record() const { return record_; }
  JobFacts facts() const;

  // The request for the next stage, which is asked for now. `host` is the fingerprint of where it will run;
  // empty if that is not known yet.
  NextStage Ask(const StagePredictions& predictions, const std::string& host, double now);
  // The stage was granted and starts in this runner, on the host of this name.
  void Start(int64_t runner, const Holding& holding, const std::string& host, double now);
  // The message by which the runner gets the job; nothing if it has it already. `place` is what the host has
  // for it.
  std::optional<AssignJob> Assignment(JobPlace place) const;

  // The runner has reported the end of the stage. Returns what there is to store; record() is up to date.
  StageRecord End(const RunnerStageEnded& ended, StagePredictions& predictions, double now);
  // The runner is gone, for this reason; if it has not begun the stage, while the job waited for it. A job
  // that loses its runner in one stage again and again has failed.
  StageRecord Lose(const std::string& reason, double now);
  void LoseWaiting(const std::string& reason);
  // The stage was cut short, or the runner was lost while the job waited, through no fault of the job.
  StageRecord Stop(const std::string& reason, double now);
  void LeaveRunner();
  // The files that it begins with, once its parts have ended.
  void TakeFiles(std::vector<JobFile> files);
  // The job cannot continue.
  void Fail(const std::string& why);
  // The job is not wanted any more. A stage that runs ends with Stop().
  void Cancel();

  bool is_over() const { return record_.state != JobState::kUnfinished; }
  bool runs() const { return attempt_.runs(); }
  int64_t runner() const { return runner_; }                     // 0: none
  const std::string& place() const { return attempt_.place(); }  // the name of the host that it was on last
  // The stage that runs or is asked for, and its times.
  const JobStage& stage() const { return attempt_.next().stage; }
  // Whether that stage needs nothing but a device elsewhere.
  bool measures_elsewhere() const;
  double asked() const { return attempt_.asked(); }
  double start() const { return attempt_.start(); }  // if it runs
  double remaining() const { return attempt_.next().remaining; }
  double opening_seconds() const { return opening_seconds_; }  // what its runner took to open it

 private:
  // The stage that runs has ended.
  StageRecord EndAttempt(StageOutcome outcome, double now);
  void CountLoss(const std::string& reason);

  JobRecord record_;
  JobPredictions predictions_;
  StageAttempt attempt_;  // of the stage that runs or is asked for
  int64_t runner_ = 0;
  std::optional<JobStage> following_;    // nothing: the job is to be opened
  std::optional<double> job_remaining_;  // as the job has it
  double opening_seconds_ = 0;
  std::map<std::string, int> losses_;  // of runners, by the stage, since it was done
};

}  // namespace attune

#endif  // ATTUNE_WORK_DRIVER_JOB_MANAGER_H_
