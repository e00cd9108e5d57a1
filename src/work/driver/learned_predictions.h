// Predictions that know the stages of earlier schedules.
#ifndef ATTUNE_WORK_DRIVER_LEARNED_PREDICTIONS_H_
#define ATTUNE_WORK_DRIVER_LEARNED_PREDICTIONS_H_

#include "absl/status/status.h"
#include "work/sched/predictions.h"
#include "work/store/job_store.h"

namespace attune {

// Not thread safe.
class LearnedPredictions {
 public:
  // The store must outlive it.
  explicit LearnedPredictions(JobStore& store) : store_(store) {}

  // Learns from the latest stages in the store, the first time that it is called. Fails if the store does;
  // nothing is learned then.
  absl::Status LearnOnce();
  StagePredictions& all() { return predictions_; }

 private:
  JobStore& store_;
  StagePredictions predictions_;
  bool has_learned_ = false;
};

}  // namespace attune

#endif  // ATTUNE_WORK_DRIVER_LEARNED_PREDICTIONS_H_
