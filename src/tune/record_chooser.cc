#include "tune/record_chooser.h"

#include <utility>
#include <vector>

#include "base/status.h"

namespace attune {

StrategyVersions CurrentStrategyVersions() {
  StrategyVersions versions;
  for (const Strategy& strategy : AllStrategies()) versions[std::string(strategy.name)] = strategy.version;
  return versions;
}

absl::StatusOr<RecordChooser> RecordChooser::Load(RecordDatabase& database, const std::string& device,
                                                  int threads, const std::string& run) {
  // Times with different caches do not compare: those that tell most of a network come first.
  std::map<std::string, Candidate> best, by_others;
  for (const CacheMode cache : {CacheMode::kNetwork, CacheMode::kWarm, CacheMode::kCold}) {
    ASSIGN_OR_RETURN(const std::vector<BestRecord> records,
                     database.Best({.device = device, .run = run, .cache = cache},
                                   {.versions = CurrentStrategyVersions()}));
    for (const auto& [record, prior] : records) {
      auto& found = record.threads == threads ? best : by_others;
      found.try_emplace(record.task, Candidate{record.strategy, record.config});
    }
  }
  best.merge(by_others);
  return RecordChooser(std::move(best));
}

absl::StatusOr<KernelChoice> RecordChooser::Choose(const Workload& workload, const std::string& task,
                                                   const Target& target) const {
  const auto it = best_.find(task);
  if (it == best_.end()) return ChooseAnalytically(workload, target);
  const Candidate& candidate = it->second;
  const Strategy* strategy = FindStrategy(candidate.strategy);
  if (strategy == nullptr || !strategy->why_not(workload, target).empty() ||
      !IsConfigOf(candidate.config, strategy->space(workload, target)) ||
      !ScheduleBy(*strategy, workload, candidate.config, target).ok()) {
    return ChooseAnalytically(workload, target);
  }
  return KernelChoice{strategy, candidate.config, /*measured=*/true};
}

}  // namespace attune
