#include "service/agreement/duration_model.h"

#include <algorithm>
#include <cmath>

#include "jobs/stage_prior.h"

namespace attune {
namespace {

// Opening, reference data and the final measurements; a trial, built, checked and timed. On the machines that
// Attune is developed on.
constexpr double kFixed = 18, kForTask = 0.3, kForTrial = 0.15;

// A job's own limit of time does not hold for what comes after the search.
constexpr double kAfterLimit = 6;

constexpr LogPrior kPrior = {.mean = 0, .spread = 0.5, .weight = 2, .degrees = 4};
constexpr size_t kMostJobs = 200;

// Jobs that differ by a factor of e in their work, or in how much of their time is waiting, count 0.6.
double Nearness(double log_work, double log_wait) {
  return std::exp(-(log_work * log_work + log_wait * log_wait) / 2);
}

double LogWait(double queue, double work) { return std::log1p(queue / work); }

}  // namespace

double NominalSeconds(const TuningPlan& plan) {
  const double fixed = kFixed + kForTask * plan.tasks;
  const double by_trials = fixed + kForTrial * plan.trials;
  const double by_time = std::max(plan.seconds, 1.0) + kAfterLimit;
  if (plan.trials > 0 && plan.seconds > 0) return std::min(by_trials, by_time);
  if (plan.trials > 0) return by_trials;
  if (plan.seconds > 0) return by_time;
  // Until nothing more is hoped for.
  return StagePrior("tuning", "").median;
}

double QueueSeconds(std::span<const JobAhead> jobs, double own_seconds, int devices) {
  double turns = 0, all = 0;
  for (const JobAhead& job : jobs) {
    turns += std::min(job.remaining_seconds, own_seconds);
    all += job.remaining_seconds;
  }
  return (turns + all) / 2 / std::max(devices, 1);
}

FinishForecast PredictFinish(const TuningPlan& plan, std::span<const JobAhead> ahead, int devices,
                             std::span<const std::shared_ptr<const Observation>> observations) {
  FinishForecast forecast = {.work_seconds = NominalSeconds(plan)};
  forecast.queue_seconds = QueueSeconds(ahead, forecast.work_seconds, devices);
  const double estimate = forecast.work_seconds + forecast.queue_seconds;
  std::vector<double> log_ratios, weights;
  for (size_t i = observations.size() - std::min(observations.size(), kMostJobs); i < observations.size();
       ++i) {
    const Observation& seen = *observations[i];
    if (seen.finish_seconds <= 0) continue;
    const double work = NominalSeconds(seen.plan);
    log_ratios.push_back(std::log(seen.finish_seconds / (work + seen.queue_seconds)));
    weights.push_back(
        Nearness(std::log(work / forecast.work_seconds),
                 LogWait(seen.queue_seconds, work) - LogWait(forecast.queue_seconds, forecast.work_seconds)));
  }
  forecast.jobs = static_cast<int>(log_ratios.size());
  forecast.prior = PredictNext(estimate, kPrior, {}, {});
  forecast.finish = PredictNext(estimate, kPrior, log_ratios, weights);
  return forecast;
}

}  // namespace attune
