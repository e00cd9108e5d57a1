// The dispatcher's numbers, for those who watch the server.
#ifndef ATTUNE_FLEET_SERVER_DISPATCHER_SNAPSHOT_H_
#define ATTUNE_FLEET_SERVER_DISPATCHER_SNAPSHOT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace attune {

// How often something took how long.
class SecondsHistogram {
 public:
  // The upper bounds of the buckets, in seconds; a last bucket has no bound.
  static constexpr std::array<double, 12> kBounds = {0.1, 0.5, 1, 5, 15, 30, 60, 120, 300, 900, 3600, 14400};

  void Add(double seconds) {
    size_t bucket = 0;
    while (bucket < kBounds.size() && seconds > kBounds[bucket]) ++bucket;
    ++counts_[bucket];
    sum_ += seconds;
  }

  // By bucket; those below are not part of it.
  const std::array<int64_t, kBounds.size() + 1>& counts() const { return counts_; }
  double sum() const { return sum_; }

 private:
  std::array<int64_t, kBounds.size() + 1> counts_ = {};
  double sum_ = 0;
};

// Since the server has started.
struct DispatcherCounters {
  int64_t leases_granted = 0;
  int64_t leases_ended = 0;  // includes those that were lost
  int64_t leases_lost = 0;   // one side gave no signs of life
  int64_t results_passed_on = 0;
  int64_t results_refused = 0;  // under a stale token, or that nobody has asked for
  int64_t agents_replaced = 0;  // whose connection ended as the same agent had connected again
  // How long requests waited that were granted, except for those of the fleet itself.
  SecondsHistogram waited = {};
};

struct DispatcherSnapshot {
  DispatcherCounters counters = {};
  int64_t agents = 0;                          // that are connected
  int64_t agents_with_shared_credentials = 0;  // SharedCredentials
  // Each device counts once: as away, else as held, else as drained, else as free.
  int64_t devices_free = 0, devices_held = 0, devices_drained = 0, devices_away = 0;
  std::map<std::string, int> waiting = {};  // requests by key
  double seconds_since_tick = 0;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_DISPATCHER_SNAPSHOT_H_
