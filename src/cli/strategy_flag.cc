#include "cli/strategy_flag.h"

#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "base/status.h"

namespace attune {

std::string StrategyNames() {
  return absl::StrJoin(AllSchedulingStrategies(), ", ",
                       [](std::string* out, const SchedulingStrategy& row) { out->append(row.name); });
}

absl::StatusOr<const SchedulingStrategy*> StrategyNamed(const std::string& name) {
  const SchedulingStrategy* strategy = FindSchedulingStrategy(name);
  if (strategy != nullptr) return strategy;
  return InvalidInput("strategy: \"", Printable(name), "\" is none of ", StrategyNames());
}

}  // namespace attune
