#include "device/placement.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace attune {
namespace {

// The usable processors in the order in which to choose them.
std::vector<Processor> InOrderOfChoice(const DeviceInfo& device) {
  struct Candidate {
    int before_of_core;  // earlier ones of the same core
    Processor processor;
  };
  std::vector<Candidate> candidates;
  std::map<int, int> of_core;
  for (auto processor = device.processors.rbegin(); processor != device.processors.rend(); ++processor) {
    if (std::ranges::binary_search(device.usable, processor->number))
      candidates.push_back({of_core[processor->core]++, *processor});
  }
  std::ranges::sort(candidates, {}, [](const Candidate& candidate) {
    return std::pair(candidate.before_of_core, -candidate.processor.number);
  });
  std::vector<Processor> processors;
  for (const Candidate& candidate : candidates) processors.push_back(candidate.processor);
  return processors;
}

bool Isolates(const Processor& timed, Isolation isolation, const Processor& other) {
  if (isolation == Isolation::kNone) return false;
  if (isolation == Isolation::kCore) return other.core == timed.core;
  if (isolation == Isolation::kCache) return other.core == timed.core || other.cache == timed.cache;
  return true;
}

bool IsFree(const DeviceInfo& device, const Processor& processor, Isolation isolation,
            const ProcessorSet& taken) {
  return std::ranges::none_of(device.processors, [&](const Processor& other) {
    const bool matters = other.number == processor.number || Isolates(processor, isolation, other);
    return matters && taken.Has(other.number);
  });
}

// The placement that times on these processors.
Placement PlacementOn(const DeviceInfo& device, std::vector<Processor> timed, Isolation isolation) {
  Placement placement;
  std::ranges::sort(timed, {}, &Processor::number);
  for (const Processor& processor : timed) placement.processors.push_back(processor.number);
  for (const Processor& other : device.processors) {
    const auto isolates = [&](const Processor& processor) { return Isolates(processor, isolation, other); };
    if (!std::ranges::binary_search(placement.processors, other.number) &&
        std::ranges::any_of(timed, isolates))
      placement.isolated.push_back(other.number);
  }
  return placement;
}

// The first `count` candidates that are free; nullopt if there are too few.
std::optional<std::vector<Processor>> FirstFree(const DeviceInfo& device,
                                                const std::vector<Processor>& candidates, size_t count,
                                                Isolation isolation, const ProcessorSet& taken) {
  std::vector<Processor> chosen;
  for (const Processor& candidate : candidates) {
    if (chosen.size() == count) break;
    if (IsFree(device, candidate, isolation, taken)) chosen.push_back(candidate);
  }
  if (chosen.size() < count) return std::nullopt;
  return chosen;
}

}  // namespace

std::optional<Placement> ChoosePlacement(const DeviceInfo& device, int count, Isolation isolation,
                                         const ProcessorSet& taken) {
  const std::vector<Processor> all = InOrderOfChoice(device);
  const auto wanted = static_cast<size_t>(count);
  bool may_share_cache = false;
  std::vector<int> tried;
  for (const Processor& first : all) {
    if (std::ranges::find(tried, first.cache) != tried.end()) continue;
    tried.push_back(first.cache);
    std::vector<Processor> sharing;
    std::ranges::copy_if(all, std::back_inserter(sharing),
                         [&](const Processor& other) { return other.cache == first.cache; });
    if (sharing.size() < wanted) continue;
    may_share_cache = true;
    if (const auto chosen = FirstFree(device, sharing, wanted, isolation, taken))
      return PlacementOn(device, *chosen, isolation);
  }
  if (may_share_cache) return std::nullopt;
  const auto chosen = FirstFree(device, all, wanted, isolation, taken);
  if (!chosen) return std::nullopt;
  return PlacementOn(device, *chosen, isolation);
}

}  // namespace attune
