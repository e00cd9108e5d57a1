// The budget: decides which task the next trials go to.
//
// Problem: some tasks take most of a network's time, and some reach their best time after a few trials.
// Equal shares waste most trials. Idea: the next batch goes to the task where it is expected to save the
// network the most time. The expected gain combines two estimates: what the last batches saved, and what
// can still be hoped for, which falls with the number of trials, faster if nothing was found for a while,
// and is bounded by the roofline. A task that is much further from its roofline than similar ones is
// expected to catch up. After the task scheduler of Zheng et al., Ansor, OSDI 2020, section 6; the
// difference is that hope fades without success, so that the expectation falls below any threshold and
// tuning ends.
#ifndef ATTUNE_TUNE_JOB_BUDGET_H_
#define ATTUNE_TUNE_JOB_BUDGET_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace attune {

// The budget's view of a task. Times are seconds of one execution.
struct TaskProgress {
  double weight = 1;  // executions in one inference; may be a fraction
  // The best time known at the start, and then after each batch of trials; never increasing. Infinite until
  // something has succeeded; empty before the first measurement.
  std::vector<double> best = {};
  double lower_bound = 0;     // no kernel is faster: the time by the roofline; 0: unknown
  std::string family = "";    // tasks of a family may come equally close to their bounds; empty: no family
  bool is_exhausted = false;  // there is nothing left to try
};

struct BudgetOptions {
  double trust_in_past = 0.2;  // the weight of what the last batches saved; the rest is for hope
  int window = 3;              // the number of these batches
  // A task that takes more than this many times its time at the best efficiency (relative to the roofline)
  // of its family is expected to get down to that in one batch.
  double lag = 2;
  // The share of its time that a task that is already faster than its roofline may still save.
  double room_below = 0.1;
  // A task is given up after this many batches without any success.
  int blind_batches = 3;
};

// For each task, the seconds that one more batch for it is expected to save one inference: 0 for tasks that
// are exhausted or given up, infinite for tasks that have not been measured yet.
std::vector<double> ExpectedGains(std::span<const TaskProgress> tasks, const BudgetOptions& options = {});

struct NextBatch {
  size_t task = 0;
  double gain = 0;  // expected, in seconds of one inference; infinite if nothing is known
};

// The task with the largest expected gain, the first one of equals; among tasks that have not been
// measured, the one with the largest lower bound. Nothing if no gain is above `min_gain` (seconds of one
// inference): tuning has converged.
std::optional<NextBatch> ChooseTask(std::span<const TaskProgress> tasks, double min_gain,
                                    const BudgetOptions& options = {});

// The time of all tasks in one inference, by their best times; infinite if one of them has none.
double InferenceSeconds(std::span<const TaskProgress> tasks);

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_BUDGET_H_
