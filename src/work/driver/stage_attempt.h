// One attempt to run a stage, from its request to its end.
#ifndef ATTUNE_WORK_DRIVER_STAGE_ATTEMPT_H_
#define ATTUNE_WORK_DRIVER_STAGE_ATTEMPT_H_

#include <optional>
#include <string>

#include "base/job.h"
#include "work/sched/resources.h"
#include "work/sched/scheduler.h"
#include "work/store/stage_log.h"

namespace attune {

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

}  // namespace attune

#endif  // ATTUNE_WORK_DRIVER_STAGE_ATTEMPT_H_
