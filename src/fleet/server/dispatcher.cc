#include "fleet/server/dispatcher.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"
#include "fleet/wire/token.h"
#include "measure/answer_check.h"
#include "measure/codec.h"

namespace attune {
namespace {

namespace proto = fleet_proto;

// Connections of one member at a time. An agent has one, and for moments the one that it has lost; a client
// has one for each device that it uses or waits for.
constexpr int kMaxAgentConnections = 4, kMaxClientConnections = 1024;

// Whether one more would be too many.
template <typename Connections>
bool HasTooMany(const Connections& connections, const FleetIdentity& who, int most) {
  if (who.role == FleetRole::kServer) return false;
  return std::ranges::count_if(connections,
                               [&](const auto& entry) { return entry.second.who.who.id == who.id; }) >= most;
}

// Adds a connection under its number, or closes it if its member has as many as it may.
template <typename Connection, typename Link>
void AddConnection(int64_t number, const CertificateFacts& who, std::shared_ptr<Link> link, int most,
                   std::map<int64_t, Connection>& connections) {
  if (HasTooMany(connections, who.who, most)) {
    link->Close(
        absl::ResourceExhaustedError(absl::StrCat("a member has at most ", most, " connections at a time")));
  } else {
    connections[number] = {.who = who, .link = std::move(link)};
  }
}

}  // namespace

Dispatcher::Dispatcher(FleetStore& store, DispatcherOptions options, const Clock& clock, int64_t epoch)
    : store_(store),
      options_(options),
      clock_(clock),
      // The first epoch of a store has no leases before it.
      leases_(epoch, options.lease_seconds, epoch == 1 ? std::nullopt : std::optional(clock.Now()), &owners_),
      ticked_(clock.Now()) {}

absl::StatusOr<std::unique_ptr<Dispatcher>> Dispatcher::Create(FleetStore& store, DispatcherOptions options,
                                                               const Clock& clock) {
  ASSIGN_OR_RETURN(const int64_t epoch, store.NextEpoch());
  std::unique_ptr<Dispatcher> dispatcher(new Dispatcher(store, options, clock, epoch));
  RETURN_IF_ERROR(dispatcher->Load());
  return dispatcher;
}

absl::Status Dispatcher::Load() {
  ASSIGN_OR_RETURN(std::vector<FleetDevice> devices, store_.Devices());
  for (FleetDevice& device : devices) {
    owners_.Put(device.id, device.owner, device.keys, device.shared_with);
    devices_.emplace(device.id, std::move(device));
  }
  ASSIGN_OR_RETURN(const auto trusts, store_.Trusts());
  for (const auto& [owner, trusted] : trusts) owners_.SetTrust(owner, trusted);
  ASSIGN_OR_RETURN(const std::vector<HeldLease> leases, store_.Leases());
  for (const HeldLease& lease : leases) {
    if (!leases_.Restore(lease.device, lease.token, clock_.Now())) continue;
    held_[lease.token] = {.device = lease.device, .owner = lease.owner, .key = lease.key};
  }
  EndForbidden();  // an earlier version let everybody use everything
  return absl::OkStatus();
}

int64_t Dispatcher::AddAgent(const CertificateFacts& who, std::shared_ptr<AgentLink> link) {
  const std::lock_guard<std::mutex> lock(mutex_);
  AddConnection(++last_connection_, who, std::move(link), kMaxAgentConnections, agents_);
  return last_connection_;
}

int64_t Dispatcher::AddClient(const CertificateFacts& who, std::shared_ptr<ClientLink> link) {
  const std::lock_guard<std::mutex> lock(mutex_);
  AddConnection(++last_connection_, who, std::move(link), kMaxClientConnections, clients_);
  return last_connection_;
}

void Dispatcher::Receive(int64_t number, const proto::FromAgent& message) {
  // Without the mutex: a hello may offer many devices, and a result have all outputs of a network.
  const absl::StatusOr<AgentSays> says = Checked(message);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = agents_.find(number);
  if (found == agents_.end()) return;
  const absl::Status taken = says.ok() ? Take(number, found->second, message, *says) : says.status();
  if (!taken.ok()) Refuse(number, taken);
  Grant();
}

void Dispatcher::RemoveAgent(int64_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // Its devices keep their leases: it may come back in time.
  EraseAgent(number);
}

std::string Dispatcher::IdOf(const Agent& agent, const std::string& name) {
  return absl::StrCat(agent.who.who.id, "/", name);
}

absl::Status Dispatcher::Take(int64_t number, Agent& agent, const proto::FromAgent& message,
                              const AgentSays& says) {
  if (message.has_hello()) return Join(number, agent, says.offer);
  if (!message.has_heartbeat() && !message.has_result()) return absl::OkStatus();  // of a later version
  if (!agent.is_there) return InvalidInput("an agent's first message must be its offer");
  if (message.has_result()) return PassOn(agent, message.result(), says.measurement);
  agent.load = message.heartbeat().load();
  for (const auto& [name, share] : message.heartbeat().disturbance()) {
    const std::string id = IdOf(agent, name);
    if (agent.devices.contains(id)) agent.disturbance[id] = share;
  }
  SignOfLife(agent);
  return absl::OkStatus();
}

absl::Status Dispatcher::Join(int64_t number, Agent& agent, const AgentOffer& offer) {
  if (agent.is_there) return InvalidInput("an agent sends its offer twice");
  RETURN_IF_ERROR(CheckDevices(agent, offer));
  agent.program = offer.program;
  agent.lacks = offer.lacks;
  for (const OfferedDevice& device : offer.devices) {
    RETURN_IF_ERROR(JoinDevice(number, agent, device));
    agent.devices.insert(IdOf(agent, device.name));
    agent.sensors[IdOf(agent, device.name)] = device.sensors;
  }
  agent.is_there = true;
  Log(LogLevel::kInfo, "agent is here", "agent", agent.who.who.id, "owner", agent.who.who.owner, "devices",
      offer.devices.size(), "program", offer.program);
  proto::ToAgent welcome;
  welcome.mutable_welcome()->set_lease_seconds(options_.lease_seconds);
  welcome.mutable_welcome()->set_heartbeat_seconds(options_.heartbeat_seconds);
  agent.link->Send(welcome);
  for (const auto& [token, lease] : held_) {
    if (!agent.devices.contains(lease.device)) continue;
    std::vector<proto::Item> items;
    for (const auto& [index, item] : lease.open) items.push_back(item);
    SendWork(token, lease, items);
  }
  return absl::OkStatus();
}

absl::Status Dispatcher::CheckDevices(const Agent& agent, const AgentOffer& offer) const {
  std::set<std::string> ids;
  for (const OfferedDevice& device : offer.devices) ids.insert(IdOf(agent, device.name));
  for (const auto& [id, device] : devices_)
    if (device.agent == agent.who.who.id) ids.insert(id);
  if (std::ssize(ids) <= kMaxDevicesOfAgent) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("an agent has at most ", kMaxDevicesOfAgent,
                                                   " devices, with those that it has no more; ",
                                                   "attune fleet remove forgets one"));
}

absl::Status Dispatcher::JoinDevice(int64_t number, const Agent& agent, const OfferedDevice& device) {
  FleetDevice record = {.id = IdOf(agent, device.name),
                        .agent = agent.who.who.id,
                        .owner = agent.who.who.owner,
                        .keys = device.keys,
                        .info = device.info,
                        .last_seen_ms = clock_.WallMillis()};
  record.keys.insert({device.fingerprint, record.id});
  if (const auto known = devices_.find(record.id); known != devices_.end()) {
    record.drained = known->second.drained;
    record.shared_with = known->second.shared_with;
  } else {
    record.shared_with = DefaultSharing(record.owner);
  }
  RETURN_IF_ERROR(CheckKeys(record, device.fingerprint));
  RETURN_IF_ERROR(store_.PutDevice(record));
  Replace(record.id, agent);
  agent_of_device_[record.id] = number;
  owners_.Put(record.id, record.owner, record.keys, record.shared_with);
  leases_.Join(record.id, record.keys, clock_.Now(), device.owners);
  if (record.drained) leases_.Drain(record.id, *record.drained);
  devices_[record.id] = std::move(record);
  return absl::OkStatus();
}

void Dispatcher::SignOfLife(const Agent& agent) {
  proto::ToClient alive;
  alive.mutable_device_is_alive();
  const double now = clock_.Now();
  for (const std::string& device : agent.devices) leases_.DeviceIsAlive(device, now);
  for (auto& [token, lease] : held_) {
    const auto client = clients_.find(lease.client);
    if (!agent.devices.contains(lease.device) || client == clients_.end()) continue;
    // An agent that beats without pause is not to drown the client.
    if (now - lease.told_alive < options_.heartbeat_seconds / 2) continue;
    lease.told_alive = now;
    client->second.link->Send(alive);
  }
}

absl::Status Dispatcher::PassOn(Agent& agent, const proto::Result& result, const Measurement& measurement) {
  const LeaseToken token = FromWire(result.token());
  const auto held = held_.find(token);
  const bool is_current = held != held_.end() && agent.devices.contains(held->second.device) &&
                          leases_.IsCurrent(held->second.device, token);
  if (!is_current) {
    ++counters_.results_refused;
    if (!std::exchange(agent.has_sent_stale, true))
      Log(LogLevel::kInfo, "result under a stale token is refused", "agent", agent.who.who.id, "lease",
          TokenText(token));
    proto::ToAgent stop;
    ToWire(token, *stop.mutable_stop()->mutable_token());
    agent.link->Send(stop);
    return absl::OkStatus();
  }
  SignOfLife(agent);
  // A client that is away asks for the result again when it comes back.
  const auto client = clients_.find(held->second.client);
  if (client == clients_.end()) return absl::OkStatus();
  const auto item = held->second.open.find(result.index());
  if (item == held->second.open.end()) {  // it answers twice, or without a request
    ++counters_.results_refused;
    return absl::OkStatus();
  }
  const auto asked = DecodeWorkerRequest(item->second.item());
  if (asked.ok()) RETURN_IF_ERROR(CheckAnswer(std::get<MeasureItem>(*asked), measurement));
  held->second.open.erase(item);
  proto::ToClient message;
  *message.mutable_result() = result;
  client->second.link->Send(message);
  ++counters_.results_passed_on;
  return absl::OkStatus();
}

void Dispatcher::Receive(int64_t number, const proto::FromClient& message) {
  const absl::Status checked = Check(message);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = clients_.find(number);
  if (found == clients_.end()) return;
  const absl::Status taken = checked.ok() ? Take(number, found->second, message) : checked;
  if (!taken.ok()) RefuseClient(number, taken);
  Grant();
}

absl::Status Dispatcher::Take(int64_t number, Client& client, const proto::FromClient& message) {
  if (message.has_ask()) return Ask(number, client, message.ask());
  if (message.has_release() && client.token == LeaseToken()) {
    Withdraw(client);
    client.link->Close(absl::OkStatus());
    return absl::OkStatus();
  }
  // A heartbeat while it waits, or what crossed with the end of the lease.
  if (client.token == LeaseToken()) return absl::OkStatus();
  if (!leases_.HolderIsAlive(client.token, clock_.Now()))
    return absl::UnavailableError("the lease has ended");
  if (message.has_items()) return AddItems(client, message.items());
  if (message.has_release()) EndLease(client.token, absl::OkStatus());
  return absl::OkStatus();
}

void Dispatcher::RemoveClient(int64_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // The lease continues for a while: the client may come back.
  EraseClient(number);
}

void Dispatcher::Withdraw(Client& client) {
  if (client.request == 0) return;
  leases_.Withdraw(client.request);
  client_of_request_.erase(client.request);
  client.request = 0;
}

absl::Status Dispatcher::Ask(int64_t number, Client& client, const proto::Ask& ask) {
  if (client.request != 0 || client.token != LeaseToken()) return InvalidInput("one connection asks once");
  if (ask.has_resumed() && TakeBack(number, client, FromWire(ask.resumed()))) return absl::OkStatus();
  RETURN_IF_ERROR(CheckServed(ask.key(), client.who.who.owner));
  client.key = ask.key();
  client.asked = clock_.Now();
  const auto known = priorities_.find(client.who.who.id);
  const int priority = known == priorities_.end() ? ask.priority() : known->second;
  client.request = leases_.Ask({.key = ask.key(), .owner = client.who.who.owner, .priority = priority});
  client_of_request_[client.request] = number;
  return absl::OkStatus();
}

bool Dispatcher::TakeBack(int64_t number, Client& client, const LeaseToken& token) {
  const auto held = held_.find(token);
  if (held == held_.end()) return false;
  const FleetIdentity& who = client.who.who;
  const bool is_its =
      held->second.owner == who.owner && (held->second.member.empty() || held->second.member == who.id);
  if (!is_its || !leases_.HolderIsAlive(token, clock_.Now())) return false;
  held->second.member = who.id;
  if (const auto before = clients_.find(held->second.client); before != clients_.end()) {
    before->second.token = {};
    before->second.link->Close(absl::AbortedError("the lease was resumed by another connection"));
  }
  held->second.client = number;
  client.token = token;
  SendGranted(client, held->second);
  return true;
}

absl::Status Dispatcher::AddItems(const Client& client, const proto::Items& items) {
  Lease& lease = held_.at(client.token);
  const auto is_new = [&](const proto::Item& item) { return !lease.open.contains(item.index()); };
  if (std::ssize(lease.open) + std::ranges::count_if(items.items(), is_new) > kMaxItemsOfLease)
    return InvalidInput("a lease has at most ", kMaxItemsOfLease, " items that wait");
  for (const proto::Item& item : items.items()) lease.open[item.index()] = item;
  SendWork(client.token, lease, {items.items().begin(), items.items().end()});
  return absl::OkStatus();
}

void Dispatcher::SendGranted(const Client& client, const Lease& lease) {
  proto::ToClient message;
  proto::Granted* granted = message.mutable_granted();
  ToWire(client.token, *granted->mutable_token());
  granted->set_device(lease.device);
  if (const auto device = devices_.find(lease.device); device != devices_.end())
    granted->set_info(device->second.info);
  granted->set_heartbeat_seconds(options_.heartbeat_seconds);
  client.link->Send(message);
}

void Dispatcher::Grant() {
  for (const DeviceGrant& grant : leases_.Grant(clock_.Now())) {
    const auto number = client_of_request_.find(grant.request);
    Client& client = clients_.at(number->second);
    Lease lease = {.device = grant.device,
                   .owner = client.who.who.owner,
                   .key = client.key,
                   .member = client.who.who.id,
                   .client = number->second};
    client_of_request_.erase(number);
    client.request = 0;
    client.token = grant.token;
    // A lease that the store does not know would not outlive this process.
    const absl::Status written = store_.PutLease(
        {.token = grant.token, .device = lease.device, .owner = lease.owner, .key = lease.key});
    if (!written.ok()) {
      leases_.Release(grant.token);
      client.token = {};
      client.link->Close(written);
      continue;
    }
    Log(LogLevel::kInfo, "lease begins", "lease", TokenText(grant.token), "device", grant.device, "owner",
        lease.owner);
    ++counters_.leases_granted;
    if (lease.owner != kFleetItself) counters_.waited.Add(clock_.Now() - client.asked);
    SendGranted(client, held_[grant.token] = std::move(lease));
  }
}

void Dispatcher::EndLease(const LeaseToken token, const absl::Status& why) {
  leases_.Release(token);
  const auto held = held_.find(token);
  if (held == held_.end()) return;
  Log(LogLevel::kInfo, "lease ends", "lease", TokenText(token), "device", held->second.device, "owner",
      held->second.owner, "reason", why.message());
  ++counters_.leases_ended;
  SendStop(held->second.device, token);
  if (const auto client = clients_.find(held->second.client); client != clients_.end()) {
    client->second.token = {};
    client->second.link->Close(why);
  }
  held_.erase(held);
  // If the store still knows it after a restart, it ends then.
  if (const absl::Status written = store_.EndLease(token); !written.ok())
    Log(LogLevel::kError, "the end of a lease is not kept", "reason", written.message());
}

void Dispatcher::Tick() {
  const std::lock_guard<std::mutex> lock(mutex_);
  ticked_ = clock_.Now();
  for (const LostLease& lost : leases_.EndSilent(ticked_)) {
    ++counters_.leases_lost;
    const std::string_view who = lost.device_was_silent ? "the device gives" : "its holder gave";
    EndLease(lost.token, absl::UnavailableError(absl::StrCat(lost.device, ": ", who, " no signs of life")));
  }
  Grant();
}

void Dispatcher::SendToDevice(const std::string& device, const proto::ToAgent& message) {
  const auto agent = agent_of_device_.find(device);
  if (agent != agent_of_device_.end()) agents_.at(agent->second).link->Send(message);
}

void Dispatcher::SendWork(const LeaseToken& token, const Lease& lease,
                          const std::vector<proto::Item>& items) {
  proto::ToAgent message;
  proto::Work* work = message.mutable_work();
  ToWire(token, *work->mutable_token());
  work->set_device(lease.device.substr(lease.device.rfind('/') + 1));
  work->set_owner(lease.owner);
  work->mutable_items()->Assign(items.begin(), items.end());
  SendToDevice(lease.device, message);
}

void Dispatcher::SendStop(const std::string& device, const LeaseToken& token) {
  proto::ToAgent message;
  ToWire(token, *message.mutable_stop()->mutable_token());
  SendToDevice(device, message);
}

absl::StatusOr<std::string> Dispatcher::OwnerOfLease(const FleetIdentity& agent,
                                                     const LeaseToken& token) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto held = held_.find(token);
  if (held == held_.end() || !absl::StartsWith(held->second.device, absl::StrCat(agent.id, "/")))
    return absl::PermissionDeniedError("the device has no such lease");
  return held->second.owner;
}

}  // namespace attune
