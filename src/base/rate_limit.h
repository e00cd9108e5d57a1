// How often somebody may try to enrol: a token bucket for each network address.
//
// The enrolment port is open to all, and each attempt costs the server work. An invitation's secret cannot be
// guessed in any number of attempts, so this is about load alone.
#ifndef ATTUNE_FLEET_IDENTITY_RATE_LIMIT_H_
#define ATTUNE_FLEET_IDENTITY_RATE_LIMIT_H_

#include <cstddef>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "base/clock.h"

namespace attune {

struct RateLimitOptions {
  int at_once = 5;                // attempts of somebody who has not tried for long
  double seconds_each = 10;       // for each further one
  size_t most_addresses = 10000;  // a new one takes the place of the one with the fewest recent attempts
};

// Thread safe.
class RateLimit {
 public:
  // The clock must outlive it.
  explicit RateLimit(const RateLimitOptions& options = {}, const Clock& clock = SystemClock())
      : options_(options), clock_(clock) {}

  // Counts an attempt from this address, which has no port. ResourceExhausted, with the time to wait, if
  // there were too many; such an attempt does not count.
  absl::Status Admit(const std::string& address);
  // An attempt that Admit() has let in was a good one, and does not count.
  void Pardon(const std::string& address);

 private:
  // The bucket of an address that is known will be full then.
  void Move(const std::string& address, double full_at);
  // For one more address.
  void MakeRoom(double now);

  const RateLimitOptions options_;
  const Clock& clock_;
  std::mutex mutex_;
  // When the bucket of an address will be full again; one that is full now need not be remembered.
  std::map<std::string, double> full_at_;
  std::set<std::pair<double, std::string>> by_time_;  // the same
};

}  // namespace attune

#endif  // ATTUNE_FLEET_IDENTITY_RATE_LIMIT_H_
