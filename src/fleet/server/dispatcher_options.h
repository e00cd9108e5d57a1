// The times by which members of a fleet and its server know that the other side is alive.
#ifndef ATTUNE_FLEET_SERVER_DISPATCHER_OPTIONS_H_
#define ATTUNE_FLEET_SERVER_DISPATCHER_OPTIONS_H_

namespace attune {

struct DispatcherOptions {
  double lease_seconds = 15;
  double heartbeat_seconds = 5;  // between two signs of life of agents and clients
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_DISPATCHER_OPTIONS_H_
