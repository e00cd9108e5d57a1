#include "tune/records/known_times.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

namespace attune {
namespace {

// The latest times of a config with one cache mode.
struct LastTimes {
  std::optional<size_t> confirmed, measured;
  std::vector<std::string_view> runs_since;  // runs that measured it after it was confirmed
};

// Sorted by time. A failure comes after measurements in the same millisecond.
std::vector<size_t> InOrder(std::span<const KnownTime> times) {
  std::vector<size_t> order(times.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) {
    return std::tuple(times[i].time_ms, times[i].kind == KnownTime::Kind::kFailed, i);
  });
  return order;
}

}  // namespace

std::vector<size_t> RankTimes(std::span<const KnownTime> times) {
  std::map<std::pair<std::string_view, CacheMode>, LastTimes> known;
  std::set<std::string_view> confirming;  // runs that confirmed something
  for (const size_t i : InOrder(times)) {
    const KnownTime& time = times[i];
    if (time.kind == KnownTime::Kind::kFailed) {
      for (const CacheMode cache : {CacheMode::kCold, CacheMode::kWarm, CacheMode::kNetwork})
        known.erase({time.config, cache});
      continue;
    }
    LastTimes& last = known[{time.config, time.cache}];
    if (time.kind == KnownTime::Kind::kConfirmed) {
      confirming.insert(time.run);
      last = {.confirmed = i, .measured = std::nullopt, .runs_since = {}};
    } else {
      last.measured = i;
      last.runs_since.push_back(time.run);
    }
  }

  const auto is_faster = [&](size_t a, size_t b) {
    return std::tie(times[a].seconds, a) < std::tie(times[b].seconds, b);
  };
  std::map<std::string_view, size_t> best;  // that a run has confirmed
  for (const auto& [config, last] : known) {
    if (!last.confirmed.has_value()) continue;
    const auto [found, is_new] = best.try_emplace(times[*last.confirmed].run, *last.confirmed);
    if (!is_new && is_faster(*last.confirmed, found->second)) found->second = *last.confirmed;
  }

  std::vector<size_t> first, second, third;
  for (const auto& [config, last] : known) {
    if (last.measured.has_value()) third.push_back(*last.measured);
    if (!last.confirmed.has_value()) continue;
    const std::string& run = times[*last.confirmed].run;
    const bool is_judged = std::ranges::any_of(
        last.runs_since, [&](std::string_view since) { return since != run && confirming.contains(since); });
    (best.at(run) == *last.confirmed && !is_judged ? first : second).push_back(*last.confirmed);
  }
  std::vector<size_t> ranked;
  for (std::vector<size_t>* places : {&first, &second, &third}) {
    std::ranges::sort(*places, is_faster);
    ranked.insert(ranked.end(), places->begin(), places->end());
  }
  return ranked;
}

}  // namespace attune
