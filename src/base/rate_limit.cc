#include "base/rate_limit.h"

#include <algorithm>

namespace attune {
namespace {

constexpr double kRounding = 1e-6;  // of sums of times

}  // namespace

double RateLimit::Admit(const std::string& who, int at_once, double seconds_each) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const double now = clock_.Now();
  const auto known = full_at_.find(who);
  const double before = known == full_at_.end() ? now : std::max(known->second, now);
  const double after = before + seconds_each;
  const double wait = after - now - at_once * seconds_each;
  if (wait > kRounding) return wait;
  if (known == full_at_.end()) MakeRoom(now);
  Move(who, after);
  return 0;
}

void RateLimit::Pardon(const std::string& who) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto known = full_at_.find(who); known != full_at_.end())
    Move(who, known->second - options_.seconds_each);
}

void RateLimit::Move(const std::string& who, double full_at) {
  if (const auto known = full_at_.find(who); known != full_at_.end()) by_time_.erase({known->second, who});
  full_at_[who] = full_at;
  by_time_.emplace(full_at, who);
}

void RateLimit::MakeRoom(double now) {
  while (!by_time_.empty() && (by_time_.begin()->first <= now || by_time_.size() >= options_.most_known)) {
    full_at_.erase(by_time_.begin()->second);
    by_time_.erase(by_time_.begin());
  }
}

}  // namespace attune
