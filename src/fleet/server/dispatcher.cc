#include "fleet/server/dispatcher.h"

#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"

namespace attune {

namespace proto = fleet_proto;

Dispatcher::Dispatcher(FleetStore& store, DispatcherOptions options, const Clock& clock, int64_t epoch)
    : clock_(clock),
      devices_(store),
      // The first epoch of a store has no leases before it.
      leases_(epoch, options.lease_seconds, epoch == 1 ? std::nullopt : std::optional(clock.Now()),
              &devices_.owners()),
      broker_(store, options, clock, devices_, agents_, clients_, leases_, held_),
      ticked_(clock.Now()) {}

absl::StatusOr<std::unique_ptr<Dispatcher>> Dispatcher::Create(FleetStore& store, DispatcherOptions options,
                                                               const Clock& clock) {
  ASSIGN_OR_RETURN(const int64_t epoch, store.NextEpoch());
  std::unique_ptr<Dispatcher> dispatcher(new Dispatcher(store, options, clock, epoch));
  RETURN_IF_ERROR(dispatcher->devices_.Load());
  RETURN_IF_ERROR(dispatcher->broker_.Load());
  return dispatcher;
}

int64_t Dispatcher::AddAgent(const CertificateFacts& who, std::shared_ptr<AgentLink> link) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return agents_.Add(who, std::move(link));
}

int64_t Dispatcher::AddClient(const CertificateFacts& who, std::shared_ptr<ClientLink> link) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return clients_.Add(who, std::move(link));
}

void Dispatcher::Receive(int64_t number, const proto::FromAgent& message) {
  // Without the mutex: a hello may offer many devices, and a result have all outputs of a network.
  const absl::StatusOr<AgentSays> says = Checked(message);
  const std::lock_guard<std::mutex> lock(mutex_);
  AgentConnections::Agent* agent = agents_.Find(number);
  if (agent == nullptr) return;
  const absl::Status taken = says.ok() ? Take(number, *agent, message, *says) : says.status();
  if (!taken.ok()) RefuseAgent(number, taken);
  broker_.Grant();
}

absl::Status Dispatcher::Take(int64_t number, AgentConnections::Agent& agent, const proto::FromAgent& message,
                              const AgentSays& says) {
  if (message.has_hello()) return Join(number, agent, says.offer);
  if (!message.has_heartbeat() && !message.has_result()) return absl::OkStatus();  // of a later version
  if (!agent.has_joined) return InvalidInput("an agent's first message must be its offer");
  if (message.has_result()) return broker_.PassOn(agent, message.result(), says.measurement);
  agent.Update(message.heartbeat());
  broker_.SignOfLife(agent);
  return absl::OkStatus();
}

absl::Status Dispatcher::Join(int64_t number, AgentConnections::Agent& agent, const AgentOffer& offer) {
  if (agent.has_joined) return InvalidInput("an agent sends its offer twice");
  const FleetIdentity& who = agent.who.who;
  std::set<std::string> ids;
  for (const OfferedDevice& device : offer.devices) ids.insert(agent.IdOf(device.name));
  RETURN_IF_ERROR(devices_.CheckRoom(who.id, std::move(ids)));
  agent.program = offer.program;
  agent.lacks = offer.lacks;
  for (const OfferedDevice& device : offer.devices) RETURN_IF_ERROR(JoinDevice(number, agent, device));
  agent.has_joined = true;
  Log(LogLevel::kInfo, "agent is here", "agent", who.id, "owner", who.owner, "devices", offer.devices.size(),
      "program", offer.program);
  broker_.Welcome(agent);
  return absl::OkStatus();
}

absl::Status Dispatcher::JoinDevice(int64_t number, const AgentConnections::Agent& agent,
                                    const OfferedDevice& offered) {
  ASSIGN_OR_RETURN(const FleetDevice* device, devices_.Join({.id = agent.IdOf(offered.name),
                                                             .agent = agent.who.who.id,
                                                             .owner = agent.who.who.owner,
                                                             .keys = offered.keys,
                                                             .info = offered.info,
                                                             .last_seen_ms = clock_.WallMillis()},
                                                            offered.fingerprint));
  const double now = clock_.Now();
  agents_.Serve(number, device->id, offered.sensors, now);
  leases_.Join(device->id, device->keys, now, offered.owners);
  if (device->drained) leases_.Drain(device->id, *device->drained);
  return absl::OkStatus();
}

void Dispatcher::RefuseAgent(int64_t number, const absl::Status& why) {
  const AgentConnections::Agent& agent = *agents_.Find(number);
  const FleetIdentity& who = agent.who.who;
  Log(LogLevel::kWarning, "agent is refused", "agent", who.id, "owner", who.owner, "reason", why.message());
  agent.link->Close(why);
  // After any other error it may come back, and continue.
  std::set<LeaseToken> leases;
  if (absl::IsInvalidArgument(why)) leases = broker_.LeasesOf(agent);
  std::erase_if(
      leases, [&](const LeaseToken& token) { return agents_.Serving(held_.Find(token)->device) != &agent; });
  agents_.Remove(number);
  for (const LeaseToken& token : leases)
    broker_.End(token, absl::UnavailableError("the device's agent was refused"));
}

void Dispatcher::RemoveAgent(int64_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // Its devices keep their leases: it may come back in time.
  agents_.Remove(number);
}

void Dispatcher::Receive(int64_t number, const proto::FromClient& message) {
  const absl::Status checked = Check(message);
  const std::lock_guard<std::mutex> lock(mutex_);
  ClientConnections::Client* client = clients_.Find(number);
  if (client == nullptr) return;
  const absl::Status taken = checked.ok() ? Take(number, *client, message) : checked;
  if (!taken.ok()) RefuseClient(number, taken);
  broker_.Grant();
}

absl::Status Dispatcher::Take(int64_t number, ClientConnections::Client& client,
                              const proto::FromClient& message) {
  if (message.has_ask()) return broker_.Ask(number, message.ask());
  if (message.has_release() && !client.has_lease()) {
    broker_.Withdraw(client);
    client.link->Close(absl::OkStatus());
    return absl::OkStatus();
  }
  // A heartbeat while it waits, or what crossed with the end of the lease.
  if (!client.has_lease()) return absl::OkStatus();
  if (!leases_.HolderIsAlive(client.token, clock_.Now()))
    return absl::UnavailableError("the lease has ended");
  if (message.has_items()) return broker_.AddItems(client, message.items());
  if (message.has_release()) broker_.End(client.token, absl::OkStatus());
  return absl::OkStatus();
}

void Dispatcher::RefuseClient(int64_t number, const absl::Status& why) {
  const ClientConnections::Client& client = *clients_.Find(number);
  client.link->Close(why);
  if (absl::IsInvalidArgument(why)) {
    Log(LogLevel::kWarning, "client is refused", "client", client.who.who.id, "owner", client.who.who.owner,
        "reason", why.message());
    broker_.End(client.token, why);
  }
  broker_.RemoveClient(number);
}

void Dispatcher::RemoveClient(int64_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  broker_.RemoveClient(number);
}

void Dispatcher::Tick() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ticked_ = clock_.Now();
  broker_.EndSilent();
  broker_.Grant();
}

void Dispatcher::AskToRenew(const std::string& authority) {
  const std::lock_guard<std::mutex> lock(mutex_);
  agents_.AskToRenew(authority);
}

void Dispatcher::Close(const MemberRefusal& refusal) {
  const std::lock_guard<std::mutex> lock(mutex_);
  agents_.Close(refusal);
  clients_.Close(refusal);
}

std::set<std::string> Dispatcher::Connected() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::set<std::string> ids;
  agents_.AddMembers(ids);
  clients_.AddMembers(ids);
  return ids;
}

void Dispatcher::SetPriority(const std::string& member, int priority) {
  const std::lock_guard<std::mutex> lock(mutex_);
  clients_.SetPriority(member, priority);
}

void Dispatcher::ForgetPriority(const std::string& member) {
  const std::lock_guard<std::mutex> lock(mutex_);
  clients_.ForgetPriority(member);
}

absl::StatusOr<std::string> Dispatcher::OwnerOfLease(const FleetIdentity& agent,
                                                     const LeaseToken& token) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const HeldLeases::Lease* lease = held_.Find(token);
  if (lease == nullptr || !absl::StartsWith(lease->device, absl::StrCat(agent.id, "/")))
    return absl::PermissionDeniedError("the device has no such lease");
  return lease->owner;
}

}  // namespace attune
