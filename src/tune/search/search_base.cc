#include "tune/search/search_base.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace attune {
namespace {

// Spaces up to this size are enumerated if random attempts find no more candidates.
constexpr int64_t kSmallSpace = 10'000;
// The number of hints that are proposed unchanged.
constexpr size_t kProposedHints = 8;

}  // namespace

std::vector<Candidate> SearchBase::Propose(int batch, const SearchState& state) {
  space_ = state.space;
  batch_.clear();
  // A search that resumes from its trials alone, in another process, draws the same candidates as this one.
  constexpr uint64_t kPrime = 1'000'003;
  random_ = Random(Random(options_.seed + kPrime * tried_.size()).Next());
  limit_ = static_cast<size_t>(std::max(batch, 0));
  // Begin with the baseline, so that the final result is never slower.
  const std::vector<Candidate> defaults = space_->Defaults();
  if (!defaults.empty()) Add(defaults.front());
  if (!is_full()) Extend(state);
  space_ = nullptr;
  return std::move(batch_);
}

void SearchBase::Observe(std::span<const Trial> trials) {
  for (const Trial& trial : trials) {
    tried_.insert(trial.candidate);
    if (trial.ok && trial.seconds > 0) measured_.push_back(trial);
  }
  // The order must not depend on the order of the observations.
  std::ranges::sort(measured_, [](const Trial& a, const Trial& b) {
    return a.seconds != b.seconds ? a.seconds < b.seconds : a.candidate < b.candidate;
  });
}

bool SearchBase::IsFresh(const Candidate& candidate) {
  return !tried_.contains(candidate) && space_->IsValid(candidate);
}

bool SearchBase::Add(const Candidate& candidate) {
  if (is_full() || !IsFresh(candidate)) return false;
  tried_.insert(candidate);
  batch_.push_back(candidate);
  return true;
}

void SearchBase::AddDefaultsAndHints() {
  for (const Candidate& candidate : space_->Defaults()) Add(candidate);
  for (size_t i = 0; i < std::min(hints_.size(), kProposedHints); ++i) Add(hints_[i]);
}

void SearchBase::AddRandom(size_t count) {
  const size_t wanted = batch_.size() + std::min(count, missing());
  for (size_t attempts = 50 + 20 * count; attempts > 0 && batch_.size() < wanted; --attempts) {
    if (const std::optional<Candidate> candidate = space_->Sample(random_)) Add(*candidate);
  }
  if (batch_.size() < wanted && space_->size() <= kSmallSpace) AddByEnumeration(wanted - batch_.size());
}

void SearchBase::AddByEnumeration(size_t count) {
  std::vector<Candidate> left;
  for (int64_t i = 0; i < space_->size(); ++i) {
    Candidate candidate = space_->At(i);
    if (IsFresh(candidate)) left.push_back(std::move(candidate));
  }
  for (; count > 0 && !left.empty(); --count) {
    const auto chosen = static_cast<size_t>(random_.Integer(0, static_cast<int64_t>(left.size()) - 1));
    Add(left[chosen]);
    left[chosen] = std::move(left.back());
    left.pop_back();
  }
}

size_t SearchBase::RandomShare() {
  const auto due = [&](size_t tried) {
    return static_cast<size_t>(std::max(options_.epsilon * static_cast<double>(tried), 0.0));
  };
  return std::min(due(tried_.size() + missing()) - due(tried_.size()), missing());
}

Candidate SearchBase::Cross(std::span<const Candidate* const> parents) {
  Candidate child = *parents.front();
  for (auto& [name, value] : child.config) {
    const auto chosen = static_cast<size_t>(random_.Integer(0, static_cast<int64_t>(parents.size()) - 1));
    const Candidate& parent = *parents[chosen];
    if (parent.strategy != child.strategy) continue;
    if (const auto found = parent.config.find(name); found != parent.config.end()) value = found->second;
  }
  return child;
}

size_t SearchBase::Pick(std::span<const double> weights) {
  double sum = 0;
  for (double weight : weights) sum += weight;
  double at = random_.Uniform() * sum;
  for (size_t i = 0; i < weights.size(); ++i) {
    at -= weights[i];
    if (at < 0) return i;
  }
  return weights.size() - 1;
}

std::vector<float> RememberedScores::operator()(std::span<const Candidate> candidates) {
  std::vector<Candidate> asked;
  for (const Candidate& candidate : candidates) {
    const auto [it, is_new] = scores_.emplace(candidate, -std::numeric_limits<float>::infinity());
    if (is_new) asked.push_back(candidate);
  }
  if (!asked.empty()) {
    const std::vector<float> found = score_(asked);
    for (size_t i = 0; i < std::min(found.size(), asked.size()); ++i) {
      if (!std::isnan(found[i])) scores_[asked[i]] = found[i];
    }
  }
  std::vector<float> scores;
  for (const Candidate& candidate : candidates) scores.push_back(scores_.at(candidate));
  return scores;
}

}  // namespace attune
