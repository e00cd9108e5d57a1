// Keeps one job's position, and turns its stages into requests to the scheduler.
#ifndef ATTUNE_JOBS_JOB_MANAGER_H_
#define ATTUNE_JOBS_JOB_MANAGER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jobs/job_spec.h"
#include "jobs/runner_messages.h"
#include "jobs/stage_log.h"
#include "sched/predictions.h"
#include "sched/resources.h"
#include "sched/scheduler.h"

namespace attune {

// The labels by which predictions know a stage: from the most special one, with the host's fingerprint.
std::vector<std::string> StageLabels(const std::string& kind, const std::string& subject,
                                     const std::string& host, const std::string& stage);

// A job is first opened by a runner, which is a stage as well; and again by another runner if that one dies.
// Knows neither clocks nor processes: times are seconds since the schedule began. Not thread safe.
class JobManager {
 public:
  // `place` is the job's, and `host` the fingerprint of where it runs.
  JobManager(JobRecord record, JobPlace place, std::string host);

  const JobRecord& record() const { return record_; }
  const JobPlace& place() const { return place_; }
  JobFacts facts() const;

  // The request for the next stage, which is asked for now.
  NextStage Ask(const StagePredictions& predictions, double now);
  // The stage was granted and starts in this runner.
  void Start(int64_t runner, const Holding& holding, double now);
  // The message by which the runner gets the job; nothing if it has it already.
  std::optional<AssignJob> Assignment() const;

  // The runner has reported the end of the stage. Returns what there is to store; record() is up to date.
  StageRecord End(const RunnerStageEnded& ended, StagePredictions& predictions, double now);
  // The runner is gone, for this reason; if it has not begun the stage, while the job waited for it. A job
  // that loses its runner in one stage again and again has failed.
  StageRecord Lose(const std::string& reason, double now);
  void LoseWaiting(const std::string& reason);
  // The stage was cut short, through no fault of the job.
  StageRecord Stop(double now);
  // The job cannot go on.
  void Fail(const std::string& why);

  bool is_over() const { return record_.state != JobState::kUnfinished; }
  bool runs() const { return holding_.has_value(); }
  int64_t runner() const { return runner_; }  // 0: none
  // The stage that runs or is asked for, and its times.
  const JobStage& stage() const { return next_.stage; }
  double asked() const { return asked_; }
  double start() const { return start_; }  // if it runs
  double remaining() const { return next_.remaining; }

 private:
  std::vector<std::string> Labels(const std::string& stage) const;
  StageRecord Finish(StageOutcome outcome, double now);
  // The job needs another runner, which opens it first.
  void Forget();
  void CountLoss(const std::string& reason);

  JobRecord record_;
  const JobPlace place_;
  const std::string host_, subject_;

  int64_t runner_ = 0;
  std::optional<JobStage> following_;  // nothing: the job is to be opened
  double job_remaining_ = 0;           // as the job has it
  std::map<std::string, int> losses_;  // of runners, by the stage, since it was done

  NextStage next_;
  SecondsPrediction own_;  // of next_, as the job has it
  double asked_ = 0, start_ = 0;
  std::optional<Holding> holding_;  // while the stage runs
};

}  // namespace attune

#endif  // ATTUNE_JOBS_JOB_MANAGER_H_
