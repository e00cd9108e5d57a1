#include "cli/common/strategy_flag.h"

#include <vector>

#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "base/status.h"

namespace attune {

std::string StrategyNames(bool (*accepts)(const SchedulingStrategy&)) {
  std::vector<std::string> names;
  for (const SchedulingStrategy& row : AllSchedulingStrategies())
    if (accepts == nullptr || accepts(row)) names.emplace_back(row.name);
  return absl::StrJoin(names, ", ");
}

absl::StatusOr<const SchedulingStrategy*> StrategyNamed(const std::string& name) {
  const SchedulingStrategy* strategy = FindSchedulingStrategy(name);
  if (strategy != nullptr) return strategy;
  return InvalidInput("strategy: \"", Printable(name), "\" is none of ", StrategyNames());
}

}  // namespace attune
