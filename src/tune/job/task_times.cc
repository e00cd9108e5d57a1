#include "tune/job/task_times.h"

#include <algorithm>

namespace attune {

bool TaskTimes::Add(const Candidate& candidate, double seconds) {
  times_[candidate] = seconds;
  if (best_.has_value() && seconds >= best_seconds_) return false;
  best_ = candidate;
  best_seconds_ = seconds;
  return true;
}

void TaskTimes::Confirm(const Candidate& candidate, double seconds, bool is_faster,
                        const std::string& code_digest) {
  times_[candidate] = seconds;
  confirmed_[candidate] = {is_faster, code_digest};
  if (candidate == default_ && baseline_.has_value()) baseline_->seconds = seconds;
  best_ = default_;
  best_seconds_ = baseline_seconds();
  for (const auto& [other, confirmation] : confirmed_) {
    if (!confirmation.is_faster || times_[other] >= best_seconds_) continue;
    best_ = other;
    best_seconds_ = times_[other];
  }
}

double TaskTimes::least_seconds() const {
  double least = best_seconds_;
  for (const auto& [candidate, seconds] : times_) least = std::min(least, seconds);
  return least;
}

std::vector<Candidate> TaskTimes::ToConfirm(size_t most,
                                            const std::optional<Candidate>& confirmed_before) const {
  if (!baseline_.has_value()) return {};
  double fastest = baseline_seconds();
  for (const auto& [candidate, confirmation] : confirmed_) fastest = std::min(fastest, times_.at(candidate));
  std::vector<std::pair<double, Candidate>> faster;
  for (const auto& [candidate, seconds] : times_) {
    const bool is_known = confirmed_.contains(candidate) || candidate == default_;
    if (seconds < fastest && !is_known) faster.emplace_back(seconds, candidate);
  }
  std::ranges::sort(faster);
  std::vector<Candidate> next;
  for (const auto& [seconds, candidate] : faster) {
    if (next.size() < most) next.push_back(candidate);
  }
  // Otherwise a candidate that an earlier run has confirmed would still count, whatever this run has
  // measured.
  const bool is_left = confirmed_before.has_value() && *confirmed_before != default_;
  if (next.empty() && confirmed_.empty() && is_left && most > 0) next.push_back(*confirmed_before);
  return next;
}

std::optional<TaskTimes::Code> TaskTimes::ConfirmedCode() const {
  if (!baseline_.has_value() || !is_tuned()) return std::nullopt;
  const auto found = confirmed_.find(*best_);
  if (found == confirmed_.end()) return std::nullopt;
  return Code{baseline_->code_digest, found->second.code_digest};
}

}  // namespace attune
