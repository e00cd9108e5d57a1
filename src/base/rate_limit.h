// Limits the rate of attempts: a token bucket for each caller.
#ifndef ATTUNE_BASE_RATE_LIMIT_H_
#define ATTUNE_BASE_RATE_LIMIT_H_

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "base/clock.h"

namespace attune {

struct RateLimitOptions {
  int at_once = 5;             // attempts of a caller that has not tried for long
  double seconds_each = 10;    // for each further one
  size_t most_known = 10'000;  // a new one takes the place of the one with the fewest recent attempts
};

// Thread safe.
class RateLimit {
 public:
  // The clock must outlive it.
  explicit RateLimit(const RateLimitOptions& options = {}, const Clock& clock = SystemClock())
      : options_(options), clock_(clock) {}

  // Counts an attempt of a caller, known by any text. Returns 0, or the seconds to wait if there were too
  // many; such an attempt does not count.
  double Admit(const std::string& who) { return Admit(who, options_.at_once, options_.seconds_each); }
  // The same for a caller with bounds of its own.
  double Admit(const std::string& who, int at_once, double seconds_each);
  // An attempt that Admit() has admitted succeeded, and does not count.
  void Pardon(const std::string& who);

 private:
  // This one's bucket, which is known, will be full then.
  void Move(const std::string& who, double full_at);
  // For one more.
  void MakeRoom(double now);

  const RateLimitOptions options_;
  const Clock& clock_;
  std::mutex mutex_;
  // The time when a caller's bucket will be full again; one that is full now need not be remembered.
  std::map<std::string, double> full_at_;
  std::set<std::pair<double, std::string>> by_time_;  // the same
};

}  // namespace attune

#endif  // ATTUNE_BASE_RATE_LIMIT_H_
