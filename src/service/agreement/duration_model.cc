#include "service/agreement/duration_model.h"

#include <algorithm>
#include <cmath>

#include "work/job/stage_prior.h"

namespace attune {
namespace {

// Opening, reference data and the final measurements; a trial, built, checked and timed. On the machines that
// Attune is developed on.
constexpr double kFixed = 18, kForTask = 0.3, kForTrial = 0.15;

// A job's own limit of time does not hold for what comes after the search.
constexpr double kAfterLimit = 6;

constexpr LogPrior kPrior = {.mean = 0, .spread = 0.5, .weight = 2, .degrees = 4};
constexpr size_t kMostJobs = 200;

// How alike two jobs are. The more trials a task has, the more is found, to be confirmed and compared by
// further measurements: what a job takes depends more on that than on how many trials there are.
constexpr double kWorkApart = 1, kEffortApart = 0.2, kWaitApart = 0.35;
// Beside jobs for the same network, others tell less.
constexpr double kOtherNetwork = 0.3;
double Nearness(double log_work, double log_effort, double log_wait) {
  const double work = log_work / kWorkApart, effort = log_effort / kEffortApart, wait = log_wait / kWaitApart;
  return std::exp(-(work * work + effort * effort + wait * wait) / 2);
}

// The trials of one task.
double LogEffort(const TuningPlan& plan) {
  constexpr double kMost = 200;  // without a limit
  const double trials = plan.trials > 0 ? plan.trials / std::max(plan.tasks, 1.0) : kMost;
  return std::log(std::clamp(trials, 1.0, kMost));
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
  // While a job builds kernels, another one measures.
  constexpr double kOfTurn = 0.5;
  double turns = 0;
  for (const JobAhead& job : jobs) turns += std::min(job.remaining_seconds, own_seconds);
  return kOfTurn * turns / std::max(devices, 1);
}

FinishForecast PredictFinish(const TuningPlan& plan, std::span<const JobAhead> ahead, int devices,
                             std::span<const std::shared_ptr<const Observation>> observations,
                             const std::string& network) {
  FinishForecast forecast = {.work_seconds = NominalSeconds(plan)};
  forecast.queue_seconds = QueueSeconds(ahead, forecast.work_seconds, devices);
  const double estimate = forecast.work_seconds + forecast.queue_seconds;
  const bool has_own = !network.empty() && std::ranges::any_of(observations, [&](const auto& seen) {
    return seen->network == network;
  });
  std::vector<double> log_ratios, weights;
  for (size_t i = observations.size() - std::min(observations.size(), kMostJobs); i < observations.size();
       ++i) {
    const Observation& seen = *observations[i];
    if (seen.finish_seconds <= 0) continue;
    const double work = NominalSeconds(seen.plan);
    log_ratios.push_back(std::log(seen.finish_seconds / (work + seen.queue_seconds)));
    const double counts = has_own && seen.network != network ? kOtherNetwork : 1;
    weights.push_back(
        counts *
        Nearness(std::log(work / forecast.work_seconds), LogEffort(seen.plan) - LogEffort(plan),
                 LogWait(seen.queue_seconds, work) - LogWait(forecast.queue_seconds, forecast.work_seconds)));
  }
  forecast.jobs = static_cast<int>(log_ratios.size());
  forecast.prior = PredictNext(estimate, kPrior, {}, {});
  forecast.finish = PredictNext(estimate, kPrior, log_ratios, weights);
  return forecast;
}

}  // namespace attune
