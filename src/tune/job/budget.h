// The budget: which task the next trials go to.
//
// Problem: some tasks take most of a network's time, some are as fast as they get after a few trials. Equal
// shares waste most trials. Idea: the next batch goes where it is expected to save the network the most. What
// a batch saves is estimated from two sides: what the last ones did save, and what may be hoped for, which
// falls with the number of trials, faster where nothing was found for a while, and is bounded by the
// roofline. A task that is much further from its roofline than similar ones is expected to catch up. After
// the task scheduler of Zheng et al., Ansor, OSDI 2020, section 6; other than there, hope fades without
// success, so that the expectation falls below any threshold and tuning ends.
#ifndef ATTUNE_TUNE_JOB_BUDGET_H_
#define ATTUNE_TUNE_JOB_BUDGET_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace attune {

// A task as the budget sees it. Times are seconds of one execution.
struct TaskProgress {
  double weight = 1;  // executions in one inference; may be a fraction
  // The best time known at the start, then after each batch of trials; it never rises. Infinite while nothing
  // has succeeded; empty before the first measurement.
  std::vector<double> best = {};
  double lower_bound = 0;     // no kernel is faster: the roofline's time; 0: unknown
  std::string family = "";    // tasks of one name may come equally close to their bounds; empty: as no other
  bool is_exhausted = false;  // there is nothing left to try
};

struct BudgetOptions {
  double trust_in_past = 0.2;  // the weight of what the last batches saved, against what may be hoped for
  int window = 3;              // how many of the last batches that is
  // A task that takes more than so many times what it would at the best efficiency of its family, relative to
  // the roofline, is expected to come down to that in one batch.
  double lag = 2;
  // The share of its time that a task may still save which is below what was its roofline.
  double room_below = 0.1;
  // A task where so many batches found nothing that works is given up.
  int blind_batches = 3;
};

// For each task the seconds that one more batch for it is expected to save one inference: 0 for what is
// exhausted or given up, infinite for what has not been measured yet.
std::vector<double> ExpectedGains(std::span<const TaskProgress> tasks, const BudgetOptions& options = {});

struct NextBatch {
  size_t task = 0;
  double gain = 0;  // expected, in seconds of one inference; infinite where nothing is known
};

// The task with the largest expected gain, the first of equals; of those that have not been measured the one
// of the largest lower bound. Nothing where no gain is above `min_gain` (seconds of one inference): tuning
// has converged.
std::optional<NextBatch> ChooseTask(std::span<const TaskProgress> tasks, double min_gain,
                                    const BudgetOptions& options = {});

// What all tasks take in one inference, by their best times; infinite while one of them has none.
double InferenceSeconds(std::span<const TaskProgress> tasks);

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_BUDGET_H_
