// Predicts the latency of a tuned network before it is tuned.
//
// Problem: a promise is asked for at once, and only measuring tells how fast a network gets. Idea: a network
// takes about the sum of its tasks' times. The time of a task that was tuned before on that device is known.
// The prediction for a new task is its roofline's bound times the ratio of similar tasks: a mean of their
// logarithms, weighted by nearness (Nadaraya, Watson: kernel regression, 1964), among which a prior counts as
// some. The networks that were tuned before tell how far such sums are off: each is predicted without what is
// known of itself (leaving one out), and the errors give the interval of the next one (log_prediction.h),
// narrower where more of it is known. Each inference, and each call of a kernel in it, costs something too. A
// network that was itself measured on that device takes what it took. Nothing is predicted below the bound; a
// measurement below it refutes it. Cost: time in proportion to the square of all tasks of the latest
// networks, of which there is a bound, once for each new one.
#ifndef ATTUNE_SERVICE_AGREEMENT_LATENCY_MODEL_H_
#define ATTUNE_SERVICE_AGREEMENT_LATENCY_MODEL_H_

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "service/agreement/log_prediction.h"
#include "service/agreement/observation.h"

namespace attune {

// A network to predict: its tasks with their bounds and uses; times are not looked at.
struct NetworkToPredict {
  std::string network = {};  // its digest; empty: it was never measured
  std::string device = {};   // the fingerprint
  int threads = 1;
  std::vector<TaskTime> tasks = {};
  TuningPlan plan = {};
  double bound_ms = 0;  // below which no kernels can bring it
};

struct LatencyForecast {
  LogPrediction mean = {};            // milliseconds
  std::vector<double> slowest = {1};  // by how much the slowest of 100 runs exceed the mean, all as probable
  LogPrediction prior = {};           // of the mean, by rooflines alone
  double bound_ms = 0;                // no measurement is below
  double estimate_ms = 0;             // the sum of the tasks' estimated times
  double share_known = 0;             // of the estimate: tasks that were tuned on this device before
  int networks = 0;                   // whose errors count
  PromiseRange measured = {};         // the measured time of this very network; zeros: not measured
  int measurements = 0;               // of it
};

// Thread safe.
class LatencyModel {
 public:
  // Learns from the observations, the latest of which count: those that the tenant may see.
  explicit LatencyModel(std::vector<std::shared_ptr<const Observation>> observations);

  LatencyForecast Predict(const NetworkToPredict& network) const;

 private:
  // The time of one task, in seconds.
  struct TaskEstimate {
    double seconds = 0;
    bool is_known = false;
  };
  struct NetworkEstimate {
    double seconds = 0, share_known = 0;
  };
  struct Seen {
    const TaskTime* task = nullptr;
    const Observation* in = nullptr;
    double log_bound = 0, log_intensity = 0,
           log_ratio = 0;  // of its bound, operations for it, tuned time to it
  };
  struct Errors {
    std::vector<double> of_mean;  // log ratios of real to estimated, divided by their scales
    std::vector<double> efforts;  // log trials for each task
    std::vector<double> of_p99;   // log ratios of the 99 % quantile to the mean
  };

  // Both without what is known of the network `without`.
  TaskEstimate Estimate(const TaskTime& task, const NetworkToPredict& network,
                        const std::string& without) const;
  NetworkEstimate Estimate(const NetworkToPredict& network, const std::string& without) const;
  const Errors& ErrorsOn(const NetworkToPredict& network) const;
  // The latency of this very network.
  std::vector<std::shared_ptr<const Observation>> MeasurementsOf(const NetworkToPredict& network) const;
  // Makes the forecast follow from these, if there are any.
  static void Follow(const std::vector<std::shared_ptr<const Observation>>& measurements,
                     const NetworkToPredict& network, LatencyForecast& forecast);

  const std::vector<std::shared_ptr<const Observation>> observations_;
  std::vector<Seen> seen_;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<std::string, int>, Errors> errors_;  // by device and threads
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_LATENCY_MODEL_H_
