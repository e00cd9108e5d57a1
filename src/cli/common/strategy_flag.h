// The names of strategies by which jobs are scheduled.
#ifndef ATTUNE_CLI_COMMON_STRATEGY_FLAG_H_
#define ATTUNE_CLI_COMMON_STRATEGY_FLAG_H_

#include <string>

#include "absl/status/statusor.h"
#include "work/sched/strategy.h"

namespace attune {

// "first_come, predictive, …", of those that it accepts; null: all.
std::string StrategyNames(bool (*accepts)(const SchedulingStrategy&) = nullptr);
absl::StatusOr<const SchedulingStrategy*> StrategyNamed(const std::string& name);

}  // namespace attune

#endif  // ATTUNE_CLI_COMMON_STRATEGY_FLAG_H_
