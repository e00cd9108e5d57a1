// Brings clients and devices together: the server's logic, without a network.
//
// Problem: clients and agents come and go, and the server may start again in the middle of everything. Idea:
// each client's connection stands for one request or lease, and a lease outlives connections. The
// dispatcher remembers what a lease still has to measure, so that an agent that comes back gets it again; a
// client that comes back after the server has started again sends it again. Every result is passed on only
// while its token is the device's latest one.
#ifndef ATTUNE_FLEET_SERVER_DISPATCHER_H_
#define ATTUNE_FLEET_SERVER_DISPATCHER_H_

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "fleet/identity/certificate.h"
#include "fleet/leases/device_owners.h"
#include "fleet/leases/fleet_leases.h"
#include "fleet/server/dispatcher_snapshot.h"
#include "fleet/server/promised_keys.h"
#include "fleet/serving/device_directory.h"
#include "fleet/serving/link.h"
#include "fleet/serving/shared_credentials.h"
#include "fleet/store/fleet_store.h"
#include "fleet/wire/checked_messages.h"
#include "fleet/wire/fleet.pb.h"

namespace attune {

using AgentLink = Link<fleet_proto::ToAgent>;
using ClientLink = Link<fleet_proto::ToClient>;

struct DispatcherOptions {
  double lease_seconds = 15;
  double heartbeat_seconds = 5;  // between two signs of life of agents and clients
};

// The store and the clock must outlive it.
class Dispatcher final : public DeviceDirectory {
 public:
  // Begins a new epoch with the leases that the store knows. Fails if the store cannot be read or written.
  static absl::StatusOr<std::unique_ptr<Dispatcher>> Create(FleetStore& store, DispatcherOptions options,
                                                            const Clock& clock = SystemClock());

  // A connection of an agent, from now until RemoveAgent(). Returns its number for the other calls. One with
  // invalid messages (wire/checked_messages.h) is closed with the reason, and is removed; its devices lose
  // their leases, whose clients may continue with other devices.
  int64_t AddAgent(const CertificateFacts& who, std::shared_ptr<AgentLink> link);
  void Receive(int64_t agent, const fleet_proto::FromAgent& message);
  void RemoveAgent(int64_t agent);

  // Likewise for a client, whose first message asks for a device. A lie ends its lease.
  int64_t AddClient(const CertificateFacts& who, std::shared_ptr<ClientLink> link);
  void Receive(int64_t client, const fleet_proto::FromClient& message);
  void RemoveClient(int64_t client);

  // To be called several times a second: ends leases without signs of life, and grants devices.
  void Tick();
  // Asks agents to renew certificates that are not of this authority, once on each connection.
  void AskToRenew(const std::string& authority);
  // The ids of all members that are connected.
  std::set<std::string> Connected() const;

  // The owner of a lease that one of this agent's devices has; PermissionDenied if there is no such lease.
  absl::StatusOr<std::string> OwnerOfLease(const FleetIdentity& agent, const LeaseToken& token) const;
  absl::Status CheckKey(const std::string& key, const std::string& owner) const override;
  std::vector<fleet_proto::Device> Devices(std::string_view key) const override;
  std::vector<fleet_proto::Device> DevicesFor(const std::string& owner,
                                              const std::string& key) const override;
  std::set<std::string> Meant(const std::string& owner, const std::string& key) const override;
  bool IsSeen(const std::string& device, const std::string& owner) const override;
  bool MayUse(const std::string& device, const std::string& owner) const override;
  std::map<std::string, int> Waiting() const override;
  absl::StatusOr<fleet_proto::Device> Share(const std::string& device, const std::string& owner,
                                            const OwnersChange& change) override;
  absl::StatusOr<std::set<std::string>> SetTrust(const std::string& owner,
                                                 const OwnersChange& change) override;
  std::set<std::string> TrustOf(const std::string& owner) const override;
  absl::Status ForgetOwner(const std::string& owner) override;
  absl::Status Remove(const std::string& device) override;
  void SetPriority(const std::string& member, int priority) override;
  void ForgetPriority(const std::string& member) override;
  void Close(const MemberRefusal& refusal) override;

  DispatcherSnapshot Snapshot() const;
  // Requests for the key may wait for the next minute, even if no device has it.
  absl::Status Promise(const std::string& key);
  // NotFound if there is no such device.
  absl::Status Drain(const std::string& device, const std::string& reason);
  absl::Status Resume(const std::string& device);

 private:
  struct Agent {
    CertificateFacts who;
    std::shared_ptr<AgentLink> link;
    std::set<std::string> devices = {};                            // ids
    std::map<std::string, std::vector<std::string>> sensors = {};  // of each
    std::string program = {};
    std::vector<std::string> lacks = {};
    double load = 0;
    std::map<std::string, double> disturbance = {};  // of each device, a share
    bool is_there = false;                           // it has said what it offers
    bool is_asked_to_renew = false;
    bool has_sent_stale = false;  // results, which is logged once
  };
  struct Client {
    CertificateFacts who;
    std::shared_ptr<ClientLink> link;
    std::string key = {};   // that it has asked for
    int64_t request = 0;    // that waits; 0: none
    double asked = 0;       // when it asked, by the clock
    LeaseToken token = {};  // of its lease; zero: none
  };
  struct Lease {
    std::string device = {}, owner = {}, key = {};
    std::string member =
        {};              // whose it is, by id; empty: one of the owner's, before the server started again
    int64_t client = 0;  // its connection; 0: it is gone, and may come back
    std::map<int32_t, fleet_proto::Item> open = {};  // items without a result, by index
    double told_alive = -INFINITY;                   // when its client was told that the device is alive
  };

  Dispatcher(FleetStore& store, DispatcherOptions options, const Clock& clock, int64_t epoch);

  absl::Status Load();
  absl::Status Take(int64_t number, Agent& agent, const fleet_proto::FromAgent& message,
                    const AgentSays& says);
  absl::Status Join(int64_t number, Agent& agent, const AgentOffer& offer);
  // ResourceExhausted if the agent has had too many devices.
  absl::Status CheckDevices(const Agent& agent, const AgentOffer& offer) const;
  absl::Status JoinDevice(int64_t number, const Agent& agent, const OfferedDevice& device);
  // The device has another connection, which ends.
  void Replace(const std::string& device, const Agent& agent);
  absl::Status PassOn(Agent& agent, const fleet_proto::Result& result, const Measurement& measurement);
  // Whether the owner may have such a device with such keys. One that was there before may stay.
  absl::Status CheckKeys(const FleetDevice& device, const std::string& fingerprint) const;
  // Ends leases, and refuses requests, that the owners of their devices or of their work do not consent to.
  void EndForbidden();
  void SignOfLife(const Agent& agent);

  absl::Status Take(int64_t number, Client& client, const fleet_proto::FromClient& message);
  absl::Status Ask(int64_t number, Client& client, const fleet_proto::Ask& ask);
  void Withdraw(Client& client);
  bool TakeBack(int64_t number, Client& client, const LeaseToken& token);
  absl::Status AddItems(const Client& client, const fleet_proto::Items& items);
  void SendGranted(const Client& client, const Lease& lease);

  void Grant();
  // The token is a copy: ending the lease clears those of its client and of held_.
  void EndLease(LeaseToken token, const absl::Status& why);
  // Closes the connection with this reason, and forgets it.
  void Refuse(int64_t agent, const absl::Status& why);
  void RefuseClient(int64_t client, const absl::Status& why);
  void EraseAgent(int64_t agent);
  void EraseClient(int64_t client);
  // Sends an agent's message for the device, if its agent is connected.
  void SendToDevice(const std::string& device, const fleet_proto::ToAgent& message);
  void SendWork(const LeaseToken& token, const Lease& lease, const std::vector<fleet_proto::Item>& items);
  void SendStop(const std::string& device, const LeaseToken& token);
  // The device's id within the fleet.
  static std::string IdOf(const Agent& agent, const std::string& name);
  fleet_proto::Device Describe(const FleetDevice& device) const;
  absl::Status CheckDevice(const std::string& device) const;
  // CheckKey() for those who hold the mutex.
  absl::Status CheckServed(const std::string& key, const std::string& owner) const;

  FleetStore& store_;
  const DispatcherOptions options_;
  const Clock& clock_;

  mutable std::mutex mutex_;
  DeviceOwners owners_;
  FleetLeases leases_;
  int64_t last_connection_ = 0;
  std::map<int64_t, Agent> agents_;
  std::map<int64_t, Client> clients_;
  std::map<std::string, FleetDevice> devices_;      // also those that are not there now
  std::map<std::string, int64_t> agent_of_device_;  // connections
  std::map<int64_t, int64_t> client_of_request_;    // connections
  PromisedKeys promised_;
  SharedCredentials shared_;
  std::map<std::string, int> priorities_;  // of members, by id
  std::map<LeaseToken, Lease> held_;
  DispatcherCounters counters_;
  double ticked_;  // when Tick() was last called
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_DISPATCHER_H_
