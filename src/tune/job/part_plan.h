// Which part of a job searches which tasks, and which slices of large ones.
//
// Problem: the parts of a job run at the same time, in processes that do not talk to each other, and should
// end at about the same time. Idea: what a task is worth is estimated from its text alone, so that every part
// computes the same plan. A task that is worth more than a part's share is cut into slices; then each task or
// slice, the largest first, goes to the part that has the least (Graham, Bounds on multiprocessing timing
// anomalies, 1969). Cost: an estimate that errs makes one part end later than the others.
#ifndef ATTUNE_TUNE_JOB_PART_PLAN_H_
#define ATTUNE_TUNE_JOB_PART_PLAN_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tune/job/options.h"
#include "tune/task/sliced_space.h"
#include "tune/task/task.h"

namespace attune {

// The expected share of a task in a search, relative to other tasks of its network.
std::vector<double> SearchWeights(std::span<const TuningTask> tasks);

// The share of each part: for each task its slice, or nothing.
using PartShare = std::vector<std::optional<Slice>>;
// The shares of all parts. The same weights give the same shares on every machine. Together they have each
// task exactly once, or each of its slices.
std::vector<PartShare> PlanParts(std::span<const double> weights, int parts);

// The trials of this part: all parts together have `trials`, in proportion to what they search.
int64_t TrialsOfPart(int64_t trials, std::span<const double> weights, std::span<const PartShare> shares,
                     int part);

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_PART_PLAN_H_
