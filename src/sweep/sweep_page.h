// A page about a sweep: how inference times depend on each of its options.
#ifndef ATTUNE_SWEEP_SWEEP_PAGE_H_
#define ATTUNE_SWEEP_SWEEP_PAGE_H_

#include <string>
#include <vector>

#include "sweep/sweep_plan.h"
#include "sweep/sweep_result.h"

namespace attune {

// A self-contained page: a plot for each axis, with a line for each combination of the other axes, and a
// table. `results` are those of the plan's runs. It stays small enough for a browser, however many runs there
// are.
std::string SweepHtml(const SweepPlan& plan, const std::vector<SweepResult>& results);

}  // namespace attune

#endif  // ATTUNE_SWEEP_SWEEP_PAGE_H_
