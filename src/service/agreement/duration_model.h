// Predicts when a tuning job will be done.
//
// Problem: a job waits for others, and measures until its limits tell it to stop. Idea: both are estimated by
// simple sums; the jobs before this one tell how far such an estimate is off, more so the more alike they
// were in their work, in the trials that each task has, and in their wait (log_prediction.h).
#ifndef ATTUNE_SERVICE_AGREEMENT_DURATION_MODEL_H_
#define ATTUNE_SERVICE_AGREEMENT_DURATION_MODEL_H_

#include <memory>
#include <span>
#include <string>

#include "service/agreement/log_prediction.h"
#include "service/agreement/observation.h"

namespace attune {

// The seconds of a job's stages by its plan alone.
double NominalSeconds(const TuningPlan& plan);

// A job that is not over, on the device that a new one would measure on.
struct JobAhead {
  double remaining_seconds = 0;
};
// Returns the seconds that a new job of `own_seconds` waits for these jobs, with `devices` devices: it takes
// turns with each of them until the shorter one of the two is over.
double QueueSeconds(std::span<const JobAhead> jobs, double own_seconds, int devices);

struct FinishForecast {
  LogPrediction finish = {};  // seconds after the submission
  LogPrediction prior = {};   // by the plan and the queue alone
  double work_seconds = 0, queue_seconds = 0;
  int jobs = 0;  // that were before
};

// `network`: the digest of the one that is tuned, whose own jobs tell most; empty: none of them is its own.
FinishForecast PredictFinish(const TuningPlan& plan, std::span<const JobAhead> ahead, int devices,
                             std::span<const std::shared_ptr<const Observation>> observations,
                             const std::string& network = "");

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_DURATION_MODEL_H_
