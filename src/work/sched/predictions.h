// Learns how long stages take, from those that have ended.
//
// Problem: a job predicts its stages as well as it can, but does not know the host, nor other jobs of its
// kind. Idea: what is learned are ratios of real to predicted times, for each of a stage's labels: its kind
// of job and its name, the same with its task, the same with its host. A prediction of the job is multiplied
// with quantiles of the latest ratios of the most special label that has enough of them. Cost: an hour in
// which a host is slow is believed until as many faster stages have ended as are remembered.
#ifndef ATTUNE_WORK_SCHED_PREDICTIONS_H_
#define ATTUNE_WORK_SCHED_PREDICTIONS_H_

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>

#include "base/job.h"

namespace attune {

// Deterministic. Not thread safe.
class StagePredictions {
 public:
  // `labels`: from the most special to the most general one. `own`: the job's prediction; if its median is 0,
  // the job has none, and absolute times are learned.
  SecondsPrediction Predict(std::span<const std::string> labels, const SecondsPrediction& own) const;
  // A stage has taken `seconds` that was predicted as Predict(labels, own).
  void Add(std::span<const std::string> labels, const SecondsPrediction& own, double seconds);

  // How many stages have ended between the low and the high value that was predicted for them, which should
  // be 80 of 100, and how many in all.
  int64_t num_within() const { return num_within_; }
  int64_t num_predicted() const { return num_predicted_; }

 private:
  std::map<std::string, std::deque<double>> ratios_;  // the latest ones, by label
  int64_t num_within_ = 0, num_predicted_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_WORK_SCHED_PREDICTIONS_H_
