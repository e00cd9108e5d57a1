#include "work/sched/strategy.h"

#include <algorithm>

#include "work/sched/strategies/strategies.h"

namespace attune {

std::span<const SchedulingStrategy> AllSchedulingStrategies() {
  static constexpr SchedulingStrategy kStrategies[] = {
      kSequential, kDedicated,  kUncoordinated, kLockstep,  kFirstCome,
      kPredictive, kBackToBack, kPriority,      kFairShare,
  };
  return kStrategies;
}

const SchedulingStrategy* FindSchedulingStrategy(std::string_view name) {
  const std::span<const SchedulingStrategy> all = AllSchedulingStrategies();
  const auto found = std::ranges::find(all, name, &SchedulingStrategy::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace attune
