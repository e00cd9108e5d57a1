#include "measure/outcome.h"

#include <algorithm>
#include <array>
#include <span>

namespace attune {
namespace {

constexpr std::array<std::string_view, 8> kOutcomes = {
    "ok", "build_failed", "crashed", "timed_out", "wrong_result", "out_of_memory", "invalid_timing", "retry"};
constexpr std::string_view kOldNameOfRetry = "other";
constexpr std::array<std::string_view, 3> kCacheModes = {"cold", "warm", "network"};

template <typename Enum>
std::optional<Enum> Find(std::span<const std::string_view> names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found - names.begin());
}

}  // namespace

std::string_view Name(TrialOutcome outcome) { return kOutcomes[static_cast<size_t>(outcome)]; }
std::string_view Name(CacheMode mode) { return kCacheModes[static_cast<size_t>(mode)]; }

TrialOutcome OutcomeOf(const ProcessEnd& end) {
  switch (end.cause) {
    case ProcessEnd::Cause::kOutOfMemory:
      return TrialOutcome::kOutOfMemory;
    case ProcessEnd::Cause::kTimedOut:
      return TrialOutcome::kTimedOut;
    case ProcessEnd::Cause::kCrashed:
      break;
  }
  return TrialOutcome::kCrashed;
}

std::optional<TrialOutcome> ParseTrialOutcome(std::string_view name) {
  return name == kOldNameOfRetry ? TrialOutcome::kRetry : Find<TrialOutcome>(kOutcomes, name);
}
std::optional<CacheMode> ParseCacheMode(std::string_view name) { return Find<CacheMode>(kCacheModes, name); }

}  // namespace attune
