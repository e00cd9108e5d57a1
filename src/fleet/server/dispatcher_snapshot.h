// The options of a dispatcher, and what it tells of its state.
#ifndef ATTUNE_FLEET_SERVER_DISPATCHER_SNAPSHOT_H_
#define ATTUNE_FLEET_SERVER_DISPATCHER_SNAPSHOT_H_

#include <cstdint>
#include <map>
#include <string>

#include "base/metrics_text.h"

namespace attune {

struct DispatcherOptions {
  double lease_seconds = 15;
  double heartbeat_seconds = 5;  // between two signs of life of agents and clients
};

// Since the server has started.
struct DispatcherCounters {
  int64_t leases_granted = 0;
  int64_t leases_ended = 0;  // includes those that were lost
  int64_t leases_lost = 0;   // one side gave no signs of life
  int64_t results_passed_on = 0;
  int64_t results_refused = 0;  // under a stale token, or unrequested
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
