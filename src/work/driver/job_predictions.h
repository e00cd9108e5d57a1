// Predicts how long the stages of one job take, by what its kind, its subject and its host say.
#ifndef ATTUNE_WORK_DRIVER_JOB_PREDICTIONS_H_
#define ATTUNE_WORK_DRIVER_JOB_PREDICTIONS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/job.h"
#include "work/sched/predictions.h"
#include "work/store/job_store.h"

namespace attune {

// The labels by which predictions know a stage: from the most special one, with the host's fingerprint.
std::vector<std::string> StageLabels(const std::string& kind, const std::string& subject,
                                     const std::string& host, const std::string& stage);

// All jobs share the StagePredictions that they learn into. A stage is learned under the labels by which it
// was predicted: those of the host that was last set. Not thread safe.
class JobPredictions {
 public:
  // `subject`: JobKinds::SubjectOf() the job's spec.
  JobPredictions(std::string kind, std::string subject)
      : kind_(std::move(kind)), subject_(std::move(subject)) {}

  // Sets the fingerprint of the host on which the next stage will run; empty if that is not known yet.
  void SetHost(const std::string& fingerprint) { host_ = fingerprint; }
  // Returns the prediction of a stage of this name. `own` is the job's own one.
  SecondsPrediction Predict(const StagePredictions& all, const std::string& stage,
                            const SecondsPrediction& own) const;
  // Such a stage has taken `seconds`.
  void Learn(StagePredictions& all, const std::string& stage, const SecondsPrediction& own,
             double seconds) const;
  // Returns the predicted seconds of a whole job about which nothing else is known.
  double RemainingOfAll() const;

 private:
  const std::string kind_, subject_;
  std::string host_;
};

// Predictions that know the stages of earlier schedules.
//
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

#endif  // ATTUNE_WORK_DRIVER_JOB_PREDICTIONS_H_
