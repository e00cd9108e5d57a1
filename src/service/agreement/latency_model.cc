#include "service/agreement/latency_model.h"

#include <algorithm>
#include <cmath>

namespace attune {
namespace {

constexpr double kMillis = 1e3;
constexpr int64_t kMostNetworks = 100;
// Predicting compares each task with each that was seen: at most these, in the networks learned from together
// and in the one that is predicted, whose others count by the prior.
constexpr int64_t kMostSeen = 10'000, kMostCompared = 2000;

// The ratio of a tuned task's time to its bound before anything was seen, and of a network's time to such a
// sum: about 1 where large convolutions prevail, and 4 where many small kernels do.
constexpr double kTaskRatio = 2.2, kTaskWeight = 0.5;
constexpr LogPrior kNetwork = {.mean = 0, .spread = 0.5, .weight = 2, .degrees = 4};
constexpr LogPrior kSlowest = {.mean = 0.15, .spread = 0.2, .weight = 2, .degrees = 4};

// The same network again, with other kernels. A search of another effort tells something at least.
constexpr LogPrior kAgain = {.mean = 0, .spread = 0.04, .weight = 0.5, .degrees = 4};
constexpr LogPrior kSlowestAgain = {.mean = 0.1, .spread = 0.1, .weight = 0.5, .degrees = 4};
constexpr double kLeastAlike = 0.2;

// How much further off the estimate of a network is of which nothing is known than that of one whose tasks
// all are.
constexpr double kScaleOfKnown = 0.4;
double ScaleOf(double share_known) { return share_known * kScaleOfKnown + (1 - share_known); }

// Observations elsewhere, and of other operators, tell less.
constexpr double kOtherDevice = 0.2, kOtherKind = 0.05;

// Tasks that differ by a factor of e in their bounds, or in their operations for a second of it, count 0.6.
double Nearness(double bound, double intensity) {
  return std::exp(-(bound * bound + intensity * intensity) / 2);
}

// The cost of an inference besides its kernels, and of a call of a kernel. Measured on the machines that
// Attune is developed on.
constexpr double kSecondsOfRun = 50e-9, kSecondsOfCall = 25e-9;

double LogOf(double value) { return std::log(std::max(value, 1e-12)); }
double LogIntensity(const TaskTime& task) { return LogOf(task.flops) - LogOf(task.bound); }

// How thoroughly a job searches: networks that were searched alike come out alike.
double EffortOf(const TuningPlan& plan) {
  constexpr double kUnlimited = 200, kSecondsOfTrial = 0.1;  // trials of a task
  const double by_time = plan.seconds > 0 ? plan.seconds / kSecondsOfTrial : kUnlimited * plan.tasks;
  const double trials = plan.trials > 0 ? std::min(plan.trials, by_time) : by_time;
  return LogOf(std::max(trials / std::max(plan.tasks, 1.0), 1.0));
}

// Between efforts that differ by a factor of e, 0.6.
double Alike(double effort, double other) {
  const double difference = effort - other;
  return std::exp(-difference * difference / 2);
}

double LogOfSlowest(const Observation& observation) {
  return std::log(std::max(1.0, observation.p99_ms.median / observation.mean_ms.median));
}

// Equally probable factors, none below 1.
std::vector<double> SlowestOf(const LogPrediction& ratio) {
  constexpr int kFactors = 8;
  std::vector<double> factors;
  for (int i = 0; i < kFactors; ++i) factors.push_back(std::max(1.0, ratio.Quantile((i + 0.5) / kFactors)));
  return factors;
}

bool IsOn(const Observation& observation, const NetworkToPredict& network) {
  return observation.device == network.device && observation.threads == network.threads;
}

}  // namespace

LatencyModel::LatencyModel(std::vector<std::shared_ptr<const Observation>> observations)
    : observations_([&] {
        int64_t tasks = 0, networks = 0;
        const auto is_one_too_many = [&](const std::shared_ptr<const Observation>& observation) {
          tasks += std::ssize(observation->tasks);
          return ++networks > kMostNetworks || tasks > kMostSeen;
        };
        const auto surplus = std::find_if(observations.rbegin(), observations.rend(), is_one_too_many);
        observations.erase(observations.begin(), surplus.base());
        return std::move(observations);
      }()) {
  for (const auto& observation : observations_) {
    for (const TaskTime& task : observation->tasks) {
      seen_.push_back({.task = &task,
                       .in = observation.get(),
                       .log_bound = LogOf(task.bound),
                       .log_intensity = LogIntensity(task),
                       .log_ratio = LogOf(task.tuned) - LogOf(task.bound)});
    }
  }
}

LatencyModel::TaskEstimate LatencyModel::Estimate(const TaskTime& task, const NetworkToPredict& network,
                                                  const std::string& without) const {
  double sum = kTaskWeight * std::log(kTaskRatio), weight = kTaskWeight;
  double known = 0;  // the best time of this very task
  const double log_bound = LogOf(task.bound), log_intensity = LogIntensity(task);
  for (const Seen& seen : seen_) {
    if (seen.in->network == without) continue;
    const bool is_here = IsOn(*seen.in, network);
    if (is_here && seen.task->task == task.task)
      known = known > 0 ? std::min(known, seen.task->tuned) : seen.task->tuned;
    const double counts = (is_here ? 1 : kOtherDevice) * (seen.task->kind == task.kind ? 1 : kOtherKind) *
                          Nearness(log_bound - seen.log_bound, log_intensity - seen.log_intensity);
    sum += counts * seen.log_ratio;
    weight += counts;
  }
  if (known > 0) return {known, true};
  return {task.bound * std::exp(sum / weight), false};
}

LatencyModel::NetworkEstimate LatencyModel::Estimate(const NetworkToPredict& network,
                                                     const std::string& without) const {
  double kernels = 0, known = 0, around = kSecondsOfRun;
  int64_t compared = 0;
  for (const TaskTime& task : network.tasks) {
    const TaskEstimate estimate = ++compared <= kMostCompared ? Estimate(task, network, without)
                                                              : TaskEstimate{task.bound * kTaskRatio, false};
    around += task.uses * kSecondsOfCall;
    kernels += task.uses * estimate.seconds;
    known += estimate.is_known ? task.uses * estimate.seconds : 0;
  }
  return {kernels + around, kernels > 0 ? known / kernels : 0};
}

const LatencyModel::Errors& LatencyModel::ErrorsOn(const NetworkToPredict& network) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto [found, is_new] = errors_.try_emplace({network.device, network.threads});
  Errors& errors = found->second;
  if (!is_new) return errors;
  for (const auto& observation : observations_) {
    if (!IsOn(*observation, network) || observation->mean_ms.median <= 0) continue;
    const NetworkEstimate estimate =
        Estimate({.device = network.device, .threads = network.threads, .tasks = observation->tasks},
                 observation->network);
    if (estimate.seconds <= 0) continue;
    const double real = observation->mean_ms.median / kMillis;
    errors.of_mean.push_back(std::log(real / estimate.seconds) / ScaleOf(estimate.share_known));
    errors.efforts.push_back(EffortOf(observation->plan));
    errors.of_p99.push_back(LogOfSlowest(*observation));
  }
  return errors;
}

std::vector<std::shared_ptr<const Observation>> LatencyModel::MeasurementsOf(
    const NetworkToPredict& network) const {
  std::vector<std::shared_ptr<const Observation>> measurements;
  for (const auto& observation : observations_) {
    if (IsOn(*observation, network) && observation->network == network.network &&
        observation->mean_ms.median > 0)
      measurements.push_back(observation);
  }
  return measurements;
}

void LatencyModel::Follow(const std::vector<std::shared_ptr<const Observation>>& measurements,
                          const NetworkToPredict& network, LatencyForecast& forecast) {
  std::vector<double> means;
  for (const auto& seen : measurements) means.push_back(seen->mean_ms.median);
  std::ranges::sort(means);
  const double middle = means[means.size() / 2];
  forecast.measurements = static_cast<int>(means.size());
  forecast.measured = {means.front(), middle, means.back()};
  std::vector<double> log_ratios, weights, slowest;
  for (const auto& seen : measurements) {
    log_ratios.push_back(std::log(seen->mean_ms.median / middle));
    slowest.push_back(LogOfSlowest(*seen));
    weights.push_back(std::max(kLeastAlike, Alike(EffortOf(seen->plan), EffortOf(network.plan))));
    if (seen->mean_ms.low > 0) forecast.bound_ms = std::min(forecast.bound_ms, seen->mean_ms.low);
  }
  forecast.mean = PredictNext(middle, kAgain, log_ratios, weights);
  forecast.slowest = SlowestOf(PredictNext(1, kSlowestAgain, slowest, weights));
}

LatencyForecast LatencyModel::Predict(const NetworkToPredict& network) const {
  LatencyForecast forecast = {.bound_ms = network.bound_ms};
  double roofline = kSecondsOfRun;
  for (const TaskTime& task : network.tasks)
    roofline += task.uses * (kSecondsOfCall + kTaskRatio * task.bound);
  const NetworkEstimate estimate = Estimate(network, /*without=*/"");
  forecast.estimate_ms = kMillis * estimate.seconds;
  forecast.share_known = estimate.share_known;
  const Errors& errors = ErrorsOn(network);
  forecast.networks = static_cast<int>(errors.of_mean.size());
  std::vector<double> weights;
  for (const double effort : errors.efforts) weights.push_back(Alike(effort, EffortOf(network.plan)));
  forecast.prior = PredictNext(kMillis * roofline, kNetwork, {}, {});
  forecast.mean =
      PredictNext(forecast.estimate_ms, kNetwork, errors.of_mean, weights, ScaleOf(estimate.share_known));
  forecast.slowest = SlowestOf(PredictNext(1, kSlowest, errors.of_p99, weights));
  if (const auto measurements = MeasurementsOf(network); !measurements.empty())
    Follow(measurements, network, forecast);
  forecast.prior = forecast.prior.AtLeast(forecast.bound_ms);
  forecast.mean = forecast.mean.AtLeast(forecast.bound_ms);
  return forecast;
}

}  // namespace attune
