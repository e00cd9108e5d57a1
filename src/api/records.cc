#include "api/records.h"

#include "lower/strategy.h"

namespace attune {

StrategyVersions CurrentStrategyVersions() {
  StrategyVersions versions;
  for (const Strategy& strategy : AllStrategies()) versions.emplace(strategy.name, strategy.version);
  return versions;
}

}  // namespace attune
