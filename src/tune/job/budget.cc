#include "tune/job/budget.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace attune {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

bool IsMeasured(const TaskProgress& task) { return !task.best.empty() && std::isfinite(task.best.back()); }

int Batches(const TaskProgress& task) { return std::max(static_cast<int>(task.best.size()) - 1, 0); }

// How close a task is to its roofline, in (0, 1]; 0 if that is unknown.
double Efficiency(const TaskProgress& task) {
  if (!IsMeasured(task) || task.lower_bound <= 0) return 0;
  return std::min(task.lower_bound / task.best.back(), 1.0);
}

// The average gain of the last batches.
double PastGain(const TaskProgress& task, int window) {
  const int batches = std::min(Batches(task), window);
  if (batches == 0) return 0;
  const double before = task.best[task.best.size() - 1 - static_cast<size_t>(batches)];
  // The step from no success to the first one says nothing about the next batches.
  return std::isfinite(before) ? (before - task.best.back()) / batches : 0;
}

int BatchesWithoutGain(const TaskProgress& task) {
  int count = 0;
  for (size_t i = task.best.size(); i > 1 && task.best[i - 1] == task.best[i - 2]; --i) ++count;
  return count;
}

// The gain that can be hoped for from one more batch. A record among n independent trials is broken by the
// next one with probability 1 / (n + 1), and less often the longer it has stood, since the trials are
// better than independent.
double HopedGain(const TaskProgress& task, double best_efficiency, const BudgetOptions& options) {
  // An algorithm with fewer operations than the roofline counts, such as Winograd, can be below it.
  const double best = task.best.back();
  const double room = best < task.lower_bound ? options.room_below * best : best - task.lower_bound;
  double hope = room / (1 + Batches(task));
  if (best_efficiency > 0) hope = std::max(hope, best - options.lag * task.lower_bound / best_efficiency);
  return std::clamp(hope / std::sqrt(1 + BatchesWithoutGain(task)), 0.0, room);
}

}  // namespace

std::vector<double> ExpectedGains(std::span<const TaskProgress> tasks, const BudgetOptions& options) {
  std::map<std::string, double> best_efficiency;
  for (const TaskProgress& task : tasks) {
    if (task.family.empty()) continue;
    double& best = best_efficiency[task.family];
    best = std::max(best, Efficiency(task));
  }
  std::vector<double> gains;
  for (const TaskProgress& task : tasks) {
    double& gain = gains.emplace_back(0);
    if (task.is_exhausted) continue;
    if (!IsMeasured(task)) {
      if (Batches(task) < options.blind_batches) gain = kInfinite;
      continue;
    }
    const double reached = task.family.empty() ? 0 : best_efficiency[task.family];
    gain = task.weight * (options.trust_in_past * PastGain(task, options.window) +
                          (1 - options.trust_in_past) * HopedGain(task, reached, options));
  }
  return gains;
}

std::optional<NextBatch> ChooseTask(std::span<const TaskProgress> tasks, double min_gain,
                                    const BudgetOptions& options) {
  const std::vector<double> gains = ExpectedGains(tasks, options);
  const auto bound = [&](size_t i) { return tasks[i].weight * tasks[i].lower_bound; };
  std::optional<NextBatch> next;
  for (size_t i = 0; i < gains.size(); ++i) {
    if (gains[i] <= min_gain) continue;
    const bool is_larger = !next || gains[i] > next->gain ||
                           (gains[i] == kInfinite && next->gain == kInfinite && bound(i) > bound(next->task));
    if (is_larger) next = NextBatch{i, gains[i]};
  }
  return next;
}

double InferenceSeconds(std::span<const TaskProgress> tasks) {
  double sum = 0;
  for (const TaskProgress& task : tasks) sum += IsMeasured(task) ? task.weight * task.best.back() : kInfinite;
  return sum;
}

}  // namespace attune
