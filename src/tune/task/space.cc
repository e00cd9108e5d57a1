#include "tune/task/space.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/parallel.h"
#include "base/status.h"
#include "tune/task/nest_bounds.h"

namespace attune {
namespace {

constexpr int kAttempts = 200;

// A tile may use all registers, and spill a few where operands are read from memory anyway.
constexpr int64_t kSpilledVectors = 4;
// More code takes seconds to compile, and does not fit in L1.
constexpr int64_t kMaxStatements = 4096;
constexpr int64_t kMaxScratchBytes = int64_t{64} << 20;

int64_t Saturating(int64_t a, int64_t b) { return b != 0 && a > INT64_MAX / b ? INT64_MAX : a * b; }

// The index of a value in a knob's list; the list's size if it is not there.
size_t PlaceOf(const Knob& knob, int64_t value) {
  return static_cast<size_t>(std::ranges::find(knob.values, value) - knob.values.begin());
}

Config RandomConfig(const StrategySpace& space, Random& random) {
  Config config;
  for (const Knob& knob : space.knobs) {
    config[knob.name] = knob.values[static_cast<size_t>(random.Integer(0, std::ssize(knob.values) - 1))];
  }
  return config;
}

}  // namespace

int64_t StrategySpace::size() const {
  int64_t size = 1;
  for (const Knob& knob : knobs) size = Saturating(size, std::ssize(knob.values));
  return size;
}

absl::StatusOr<ConfigSpace> ConfigSpace::Create(const TuningTask& task, const Target& target, int threads) {
  ConfigSpace space(task, target, threads);
  ASSIGN_OR_RETURN(space.workload_, task.Analyze());
  const Workload& workload = space.workload_;
  for (const Strategy& strategy : AllStrategies()) {
    if (!strategy.why_not(workload, target).empty()) continue;
    space.strategies_.push_back(
        {&strategy, strategy.space(workload, target), strategy.analytic_default(workload, target)});
  }
  ASSIGN_OR_RETURN(const KernelChoice choice, ChooseAnalytically(workload, target));
  space.default_ = {std::string(choice.strategy->name), choice.config};
  return space;
}

int64_t ConfigSpace::size() const {
  int64_t size = 0;
  for (const StrategySpace& space : strategies_) {
    size = space.size() > INT64_MAX - size ? INT64_MAX : size + space.size();
  }
  return size;
}

std::vector<Candidate> ConfigSpace::Defaults() const {
  if (hides_defaults_) return {};
  std::vector<Candidate> defaults = {default_};
  for (const StrategySpace& space : strategies_) {
    Candidate candidate{std::string(space.strategy->name), space.analytic_default};
    if (candidate != default_) defaults.push_back(std::move(candidate));
  }
  return defaults;
}

const StrategySpace* ConfigSpace::Find(const std::string& strategy) const {
  const auto it =
      std::ranges::find_if(strategies_, [&](const auto& space) { return space.strategy->name == strategy; });
  return it == strategies_.end() ? nullptr : &*it;
}

bool ConfigSpace::Contains(const Candidate& candidate) const {
  const StrategySpace* space = Find(candidate.strategy);
  return space != nullptr && IsConfigOf(candidate.config, space->knobs);
}

absl::StatusOr<LoopNest> ConfigSpace::Lower(const Candidate& candidate) const {
  const StrategySpace* space = Find(candidate.strategy);
  if (space == nullptr) return InvalidInput("no strategy ", candidate.strategy, " for this task");
  ASSIGN_OR_RETURN(const ScheduledGroup group,
                   ScheduleBy(*space->strategy, workload_, candidate.config, target_));
  std::set<std::string> prepared;
  for (const auto& [stage, input] : group.schedule.Prepackings()) {
    if (task_->constant_inputs.contains(InputIndex(input))) prepared.insert(stage);
  }
  return group.schedule.Lower(prepared);
}

std::optional<LoopNest> ConfigSpace::TakeLowered(const Candidate& candidate) {
  auto lowered = lowered_.extract(candidate);
  return lowered ? std::optional(std::move(lowered.mapped())) : std::nullopt;
}

bool ConfigSpace::IsWithinBounds(const LoopNest& nest) const {
  const NestBounds bounds = BoundsOf(nest, target_);
  return bounds.register_vectors <= target_.num_vector_registers + kSpilledVectors &&
         bounds.statements <= kMaxStatements && bounds.scratch_bytes <= kMaxScratchBytes;
}

void ConfigSpace::Check(std::span<const Candidate> candidates) {
  std::vector<const Candidate*> unknown;
  for (const Candidate& candidate : candidates) {
    if (Contains(candidate) && valid_.try_emplace(candidate, false).second) unknown.push_back(&candidate);
  }
  std::vector<std::optional<LoopNest>> nests(unknown.size());
  const auto lower = [&](int64_t i) {
    const auto place = static_cast<size_t>(i);
    absl::StatusOr<LoopNest> nest = Lower(*unknown[place]);
    if (nest.ok() && IsWithinBounds(*nest)) nests[place] = *std::move(nest);
  };
  ParallelFor(std::ssize(unknown), lower, threads_);
  constexpr size_t kMostLowered = 256;
  if (lowered_.size() + unknown.size() > kMostLowered) lowered_.clear();
  for (size_t i = 0; i < unknown.size(); ++i) {
    if (!nests[i].has_value()) continue;
    valid_[*unknown[i]] = true;
    lowered_.emplace(*unknown[i], *std::move(nests[i]));
  }
}

// The baseline is always a candidate, even if it exceeds the bounds.
bool ConfigSpace::IsValid(const Candidate& candidate) {
  if (candidate == default_) return true;
  auto known = valid_.find(candidate);
  if (known == valid_.end()) {
    Check({&candidate, 1});
    known = valid_.find(candidate);
  }
  return known != valid_.end() && known->second;
}

void ConfigSpace::Forget() {
  constexpr size_t kMostRemembered = 100'000;
  if (valid_.size() > kMostRemembered) valid_.clear();
  lowered_.clear();
}

std::optional<Candidate> ConfigSpace::Nearest(const Candidate& other) {
  const StrategySpace* space = Find(other.strategy);
  if (space == nullptr) return std::nullopt;
  Candidate nearest{other.strategy, space->analytic_default};
  for (const Knob& knob : space->knobs) {
    const auto theirs = other.config.find(knob.name);
    if (theirs == other.config.end()) continue;
    const auto distance = [&](int64_t value) { return std::abs(value - theirs->second); };
    nearest.config[knob.name] = *std::ranges::min_element(knob.values, {}, distance);
  }
  if (!IsValid(nearest)) return std::nullopt;
  return nearest;
}

std::optional<Candidate> ConfigSpace::Sample(Random& random) {
  double total = 0;
  for (const StrategySpace& space : strategies_) total += 1 + std::log2(static_cast<double>(space.size()));
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    double place = random.Uniform() * total;
    const StrategySpace* chosen = &strategies_.back();
    for (const StrategySpace& space : strategies_) {
      place -= 1 + std::log2(static_cast<double>(space.size()));
      if (place >= 0) continue;
      chosen = &space;
      break;
    }
    Candidate candidate{std::string(chosen->strategy->name), RandomConfig(*chosen, random)};
    if (IsValid(candidate)) return candidate;
  }
  return std::nullopt;
}

// A copy with one knob changed, valid or not; nothing if the random move leads nowhere.
std::optional<Candidate> ConfigSpace::Moved(const Candidate& candidate, Random& random) const {
  constexpr double kLeap = 0.2;  // how often a knob takes any value, not a neighbouring one
  const StrategySpace& space = *Find(candidate.strategy);
  const Knob& knob = space.knobs[static_cast<size_t>(random.Integer(0, std::ssize(space.knobs) - 1))];
  const int64_t count = std::ssize(knob.values);
  if (count < 2) return std::nullopt;
  const auto place = static_cast<int64_t>(PlaceOf(knob, candidate.config.at(knob.name)));
  int64_t next = place + (random.Integer(0, 1) == 0 ? -1 : 1);
  if (random.Uniform() < kLeap) next = random.Integer(0, count - 1);
  if (next < 0 || next >= count || next == place) return std::nullopt;
  Candidate moved = candidate;
  moved.config[knob.name] = knob.values[static_cast<size_t>(next)];
  return moved;
}

std::vector<std::optional<Candidate>> ConfigSpace::Neighbours(std::span<const Candidate> candidates,
                                                              Random& random) {
  std::vector<std::optional<Candidate>> neighbours(candidates.size());
  std::vector<size_t> open;  // those without a neighbour so far
  for (size_t i = 0; i < candidates.size(); ++i) {
    const StrategySpace* space = Find(candidates[i].strategy);
    if (space == nullptr || !Contains(candidates[i]) || space->size() < 2) {
      neighbours[i] = Sample(random);
    } else {
      open.push_back(i);
    }
  }
  for (int attempt = 0; attempt < kAttempts && !open.empty(); ++attempt) {
    std::vector<Candidate> moved;
    std::vector<size_t> origins;
    for (size_t i : open) {
      std::optional<Candidate> next = Moved(candidates[i], random);
      if (!next.has_value()) continue;
      moved.push_back(*std::move(next));
      origins.push_back(i);
    }
    Check(moved);
    for (size_t i = 0; i < moved.size(); ++i) {
      if (IsValid(moved[i])) neighbours[origins[i]] = std::move(moved[i]);
    }
    std::erase_if(open, [&](size_t i) { return neighbours[i].has_value(); });
  }
  return neighbours;
}

Candidate ConfigSpace::At(int64_t index) const {
  const StrategySpace* space = strategies_.data();
  while (index >= space->size()) index -= (space++)->size();
  Candidate candidate{std::string(space->strategy->name), {}};
  for (const Knob& knob : space->knobs) {
    const int64_t count = std::ssize(knob.values);
    candidate.config[knob.name] = knob.values[static_cast<size_t>(index % count)];
    index /= count;
  }
  return candidate;
}

std::string ConfigSpace::ToString() const {
  std::vector<std::string> lines;
  for (const StrategySpace& space : strategies_) {
    std::string line = absl::StrCat(space.strategy->name, ":");
    for (size_t i = 0; i < space.knobs.size(); ++i) {
      absl::StrAppend(&line, i == 0 ? " " : " × ", space.knobs[i].name, " ", space.knobs[i].values.size());
    }
    lines.push_back(
        absl::StrCat(line, space.knobs.empty() ? " one config" : absl::StrCat(" = ", space.size())));
  }
  return absl::StrJoin(lines, "\n");
}

}  // namespace attune
