// Brings clients and devices together: the server's logic, without a network.
//
// Each client's connection stands for one request or lease. The parts know the devices (DeviceRegistry), the
// connections (AgentConnections, ClientConnections) and the leases (FleetLeases, HeldLeases); none of them
// uses another, but for FleetLeases, which asks whose the devices are. LeaseBroker carries leases between
// them. The dispatcher has the lock, receives the messages, and shows the state.
#ifndef ATTUNE_FLEET_SERVER_DISPATCHER_H_
#define ATTUNE_FLEET_SERVER_DISPATCHER_H_

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "fleet/identity/certificate.h"
#include "fleet/leases/fleet_leases.h"
#include "fleet/server/agent_connections.h"
#include "fleet/server/client_connections.h"
#include "fleet/server/device_registry.h"
#include "fleet/server/dispatcher_snapshot.h"
#include "fleet/server/held_leases.h"
#include "fleet/server/lease_broker.h"
#include "fleet/serving/device_directory.h"
#include "fleet/store/fleet_store.h"
#include "fleet/wire/checked_messages.h"
#include "fleet/wire/fleet.pb.h"

namespace attune {

// Thread safe: each call holds the mutex, but for the check of a message. Links are called with it held,
// since they neither wait nor call back. The store and the clock must outlive it.
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
  Dispatcher(FleetStore& store, DispatcherOptions options, const Clock& clock, int64_t epoch);

  // These are for those who hold the mutex.
  absl::Status Take(int64_t number, AgentConnections::Agent& agent, const fleet_proto::FromAgent& message,
                    const AgentSays& says);
  absl::Status Join(int64_t number, AgentConnections::Agent& agent, const AgentOffer& offer);
  absl::Status JoinDevice(int64_t number, const AgentConnections::Agent& agent, const OfferedDevice& offered);
  absl::Status Take(int64_t number, ClientConnections::Client& client,
                    const fleet_proto::FromClient& message);
  // Closes the connection with this reason, and forgets it.
  void RefuseAgent(int64_t agent, const absl::Status& why);
  void RefuseClient(int64_t client, const absl::Status& why);
  fleet_proto::Device Describe(const FleetDevice& device) const;

  const Clock& clock_;

  mutable std::mutex mutex_;
  DeviceRegistry devices_;
  AgentConnections agents_;
  ClientConnections clients_;
  FleetLeases leases_;
  HeldLeases held_;
  LeaseBroker broker_;
  double ticked_;  // when Tick() was last called
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_DISPATCHER_H_
