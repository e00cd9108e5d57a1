#include "fleet/identity/rate_limit.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace attune {
namespace {

constexpr double kRounding = 1e-6;  // of sums of times

}  // namespace

absl::Status RateLimit::Admit(const std::string& address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const double now = clock_.Now();
  const auto known = full_at_.find(address);
  const double before = known == full_at_.end() ? now : std::max(known->second, now);
  const double after = before + options_.seconds_each;
  const double wait = after - now - options_.at_once * options_.seconds_each;
  if (wait > kRounding)
    return absl::ResourceExhaustedError(
        absl::StrCat("too many attempts from this address; try again in ", std::ceil(wait), " s"));
  if (known == full_at_.end()) MakeRoom(now);
  Move(address, after);
  return absl::OkStatus();
}

void RateLimit::Pardon(const std::string& address) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto known = full_at_.find(address); known != full_at_.end())
    Move(address, known->second - options_.seconds_each);
}

void RateLimit::Move(const std::string& address, double full_at) {
  if (const auto known = full_at_.find(address); known != full_at_.end())
    by_time_.erase({known->second, address});
  full_at_[address] = full_at;
  by_time_.emplace(full_at, address);
}

void RateLimit::MakeRoom(double now) {
  while (!by_time_.empty() &&
         (by_time_.begin()->first <= now || by_time_.size() >= options_.most_addresses)) {
    full_at_.erase(by_time_.begin()->second);
    by_time_.erase(by_time_.begin());
  }
}

}  // namespace attune
