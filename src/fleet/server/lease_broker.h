// Carries each lease from a client's request to its end, between the client and the device's agent.
//
// Problem: clients and agents come and go, and the server may start again in the middle of everything. Idea:
// a lease outlives connections. The server remembers the lease's items that have no result yet, so that an
// agent that comes back gets them again; a client that comes back after the server has started again sends
// them again. Every result is passed on only while its token is the device's latest one.
#ifndef ATTUNE_FLEET_SERVER_LEASE_BROKER_H_
#define ATTUNE_FLEET_SERVER_LEASE_BROKER_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/clock.h"
#include "fleet/leases/fleet_leases.h"
#include "fleet/server/agent_connections.h"
#include "fleet/server/client_connections.h"
#include "fleet/server/device_registry.h"
#include "fleet/server/dispatcher_snapshot.h"
#include "fleet/server/held_leases.h"
#include "fleet/store/fleet_store.h"
#include "fleet/wire/fleet.pb.h"
#include "measure/item.h"

namespace attune {

// Between two calls, FleetLeases, HeldLeases and the connections of clients know the same leases; the store
// knows all of them, and may know some that have ended. Not thread safe.
class LeaseBroker {
 public:
  // All arguments must outlive it.
  LeaseBroker(FleetStore& store, DispatcherOptions options, const Clock& clock, const DeviceRegistry& devices,
              AgentConnections& agents, ClientConnections& clients, FleetLeases& leases, HeldLeases& held)
      : store_(store),
        options_(options),
        clock_(clock),
        devices_(devices),
        agents_(agents),
        clients_(clients),
        leases_(leases),
        held_(held) {}

  // Restores the leases that the store knows, unless they are forbidden. To be called once, before all other
  // calls, and after the devices are known. Fails if the store cannot be read.
  absl::Status Load();

  // Sends an agent that has joined the times to keep, and the open work of its devices again.
  void Welcome(const AgentConnections::Agent& agent);
  // The agent is alive, and its devices with it; their clients are told so now and then.
  void SignOfLife(const AgentConnections::Agent& agent);
  // Passes a result on to its client, or refuses it if it is not that of an open item under the device's
  // latest token. InvalidArgument if it cannot be the item's result.
  absl::Status PassOn(AgentConnections::Agent& agent, const fleet_proto::Result& result,
                      const Measurement& measurement);
  // Returns the tokens of the leases of the devices that the agent offers.
  std::set<LeaseToken> LeasesOf(const AgentConnections::Agent& agent) const;

  // Lets the client wait for a device, or gives it its lease back, if the client has said which one it had.
  absl::Status Ask(int64_t client, const fleet_proto::Ask& ask);
  // The client no longer waits. Does nothing if it did not.
  void Withdraw(ClientConnections::Client& client);
  // Sends the items to the device of the client's lease.
  absl::Status AddItems(const ClientConnections::Client& client, const fleet_proto::Items& items);
  // Forgets the connection, if it is there. Its lease continues for a while: the client may come back.
  void RemoveClient(int64_t client);

  // Gives free devices to clients that wait.
  void Grant();
  // Ends the lease and closes its client's connection with this reason; does nothing if there is no such
  // lease. The token is a copy, since the one of the lease's client is cleared.
  void End(LeaseToken token, const absl::Status& why);
  // Ends the leases of which one side was silent for too long.
  void EndSilent();
  // Ends the leases, and refuses the requests, that the owners of their devices or of their work do not
  // consent to.
  void EndForbidden();

  // As DeviceDirectory::CheckKey().
  absl::Status CheckKey(const std::string& key, const std::string& owner) const;
  // Counts leases, waits and results; agents_replaced stays 0.
  const DispatcherCounters& counters() const { return counters_; }

 private:
  // Gives the client the lease with this token, and takes it from the connection that had it. Returns false,
  // without any effect, if it is not the client's or has ended.
  bool Resume(int64_t client, const LeaseToken& token);
  // Tells the agent that the lease has ended.
  void RefuseStale(AgentConnections::Agent& agent, const LeaseToken& token);
  void SendGranted(const ClientConnections::Client& client, const HeldLeases::Lease& lease);
  void SendWork(const LeaseToken& token, const HeldLeases::Lease& lease,
                const std::vector<fleet_proto::Item>& items);

  FleetStore& store_;
  const DispatcherOptions options_;
  const Clock& clock_;
  const DeviceRegistry& devices_;
  AgentConnections& agents_;
  ClientConnections& clients_;
  FleetLeases& leases_;
  HeldLeases& held_;
  DispatcherCounters counters_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_LEASE_BROKER_H_
