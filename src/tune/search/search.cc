#include "tune/search/search.h"

#include <algorithm>
#include <iterator>

#include "tune/search/search_base.h"

namespace attune {
namespace {

constexpr SearchStrategyInfo kStrategies[] = {
    {"annealing", "simulated annealing on a model that learns from measurements", true, MakeAnnealing},
    {"genetic", "crosses the fastest that were measured", false, MakeGenetic},
    {"evolutionary", "evolves the fastest on record, guided by the model", true, MakeEvolutionary},
    {"grid", "every candidate in turn", false, MakeGrid},
    {"random", "candidates at random", false, MakeRandomSearch},
};

}  // namespace

std::span<const SearchStrategyInfo> AllSearchStrategies() { return kStrategies; }

const SearchStrategyInfo* FindSearchStrategy(std::string_view name) {
  const auto* found = std::ranges::find(kStrategies, name, &SearchStrategyInfo::name);
  return found == std::end(kStrategies) ? nullptr : found;
}

}  // namespace attune
