#include "fleet/server/dispatcher.h"

#include <iterator>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"
#include "device/codec.h"
#include "fleet/wire/token.h"
#include "fleet/wire/version.h"

namespace attune {
namespace {

namespace proto = fleet_proto;

constexpr int kMaxDevices = 64, kMaxKeys = 32, kMaxSensors = 256, kMaxItems = 4096;
constexpr size_t kMaxItemBytes = size_t{8} << 10;  // so that all of a lease fit in a message

}  // namespace

Dispatcher::Dispatcher(FleetStore& store, DispatcherOptions options, const Clock& clock, int64_t epoch)
    : store_(store),
      options_(options),
      clock_(clock),
      // The first epoch of a store has no leases before it.
      leases_(epoch, options.lease_seconds, epoch == 1 ? std::nullopt : std::optional(clock.Now())),
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
  for (FleetDevice& device : devices) devices_.emplace(device.id, std::move(device));
  ASSIGN_OR_RETURN(const std::vector<HeldLease> leases, store_.Leases());
  for (const HeldLease& lease : leases) {
    if (!leases_.Restore(lease.device, lease.token, clock_.Now())) continue;
    held_[lease.token] = {.device = lease.device, .owner = lease.owner, .key = lease.key};
  }
  return absl::OkStatus();
}

int64_t Dispatcher::AddAgent(const CertificateFacts& who, std::shared_ptr<AgentLink> link) {
  const std::lock_guard<std::mutex> lock(mutex_);
  agents_[++last_connection_] = {.who = who, .link = std::move(link)};
  return last_connection_;
}

int64_t Dispatcher::AddClient(const CertificateFacts& who, std::shared_ptr<ClientLink> link) {
  const std::lock_guard<std::mutex> lock(mutex_);
  clients_[++last_connection_] = {.who = who, .link = std::move(link)};
  return last_connection_;
}

void Dispatcher::Receive(int64_t number, const proto::FromAgent& message) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = agents_.find(number);
  if (found == agents_.end()) return;
  Agent& agent = found->second;
  if (message.has_hello()) {
    if (const absl::Status status = Join(number, agent, message.hello()); !status.ok())
      agent.link->Close(status);
  } else if (message.has_heartbeat()) {
    agent.load = message.heartbeat().load();
    SignOfLife(agent);
  } else if (message.has_result()) {
    PassOn(agent, message.result());
  }
  Grant();
}

void Dispatcher::RemoveAgent(int64_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = agents_.find(number);
  if (found == agents_.end()) return;
  const FleetIdentity& who = found->second.who.who;
  Log(LogLevel::kInfo, "agent is gone", "agent", who.id, "owner", who.owner);
  // Its devices keep their leases: it may come back in time.
  std::erase_if(agent_of_device_, [&](const auto& entry) { return entry.second == number; });
  agents_.erase(found);
}

std::string Dispatcher::IdOf(const Agent& agent, const std::string& name) {
  return absl::StrCat(agent.who.who.id, "/", name);
}

absl::Status Dispatcher::Join(int64_t number, Agent& agent, const proto::Hello& hello) {
  RETURN_IF_ERROR(CheckFleetVersion("agent", hello.version()));
  if (hello.devices_size() == 0 || hello.devices_size() > kMaxDevices)
    return InvalidInput("an agent has 1 to ", kMaxDevices, " devices, this one says ", hello.devices_size());
  agent.program = hello.program();
  agent.lacks.assign(hello.lacks().begin(), hello.lacks().end());
  for (const proto::AgentDevice& device : hello.devices()) {
    RETURN_IF_ERROR(JoinDevice(number, agent, device));
    agent.devices.insert(IdOf(agent, device.name()));
    agent.sensors[IdOf(agent, device.name())] = {device.sensors().begin(), device.sensors().end()};
  }
  Log(LogLevel::kInfo, "agent is here", "agent", agent.who.who.id, "owner", agent.who.who.owner, "devices",
      hello.devices_size(), "program", hello.program());
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

absl::Status Dispatcher::JoinDevice(int64_t number, const Agent& agent, const proto::AgentDevice& device) {
  if (device.keys_size() > kMaxKeys) return InvalidInput("a device has at most ", kMaxKeys, " keys");
  if (device.sensors_size() > kMaxSensors)
    return InvalidInput("a device has at most ", kMaxSensors, " sensors");
  ASSIGN_OR_RETURN(const DeviceInfo info, DecodeDevice(device.info()));
  FleetDevice record = {.id = IdOf(agent, device.name()),
                        .agent = agent.who.who.id,
                        .owner = agent.who.who.owner,
                        .keys = {device.keys().begin(), device.keys().end()},
                        .info = device.info(),
                        .last_seen_ms = clock_.WallMillis()};
  record.keys.insert({info.fingerprint, record.id});
  if (const auto known = devices_.find(record.id); known != devices_.end())
    record.drained = known->second.drained;
  RETURN_IF_ERROR(store_.PutDevice(record));
  // An agent that was cut off may connect again before the old connection ends: the new one counts.
  if (const auto before = agent_of_device_.find(record.id); before != agent_of_device_.end()) {
    const auto old = agents_.find(before->second);
    if (before->second != number && old != agents_.end())
      old->second.link->Close(absl::AbortedError("the same agent has connected again"));
  }
  agent_of_device_[record.id] = number;
  leases_.Join(record.id, record.keys, clock_.Now(),
               {device.trusted_owners().begin(), device.trusted_owners().end()});
  if (record.drained) leases_.Drain(record.id, *record.drained);
  devices_[record.id] = std::move(record);
  return absl::OkStatus();
}

void Dispatcher::SignOfLife(const Agent& agent) {
  proto::ToClient alive;
  alive.mutable_device_is_alive();
  for (const std::string& device : agent.devices) leases_.DeviceIsAlive(device, clock_.Now());
  for (const auto& [token, lease] : held_) {
    const auto client = clients_.find(lease.client);
    if (agent.devices.contains(lease.device) && client != clients_.end()) client->second.link->Send(alive);
  }
}

void Dispatcher::PassOn(Agent& agent, const proto::Result& result) {
  const LeaseToken token = FromWire(result.token());
  const auto held = held_.find(token);
  const bool is_current = held != held_.end() && agent.devices.contains(held->second.device) &&
                          leases_.IsCurrent(held->second.device, token);
  if (!is_current) {
    ++counters_.results_refused;
    Log(LogLevel::kInfo, "result under a stale token is refused", "agent", agent.who.who.id, "lease",
        TokenText(token));
    proto::ToAgent stop;
    ToWire(token, *stop.mutable_stop()->mutable_token());
    agent.link->Send(stop);
    return;
  }
  SignOfLife(agent);
  // A client that is away asks for the result again when it comes back.
  const auto client = clients_.find(held->second.client);
  if (client == clients_.end()) return;
  held->second.open.erase(result.index());
  proto::ToClient message;
  *message.mutable_result() = result;
  client->second.link->Send(message);
  ++counters_.results_passed_on;
}

void Dispatcher::Receive(int64_t number, const proto::FromClient& message) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = clients_.find(number);
  if (found == clients_.end()) return;
  Client& client = found->second;
  absl::Status status;
  if (message.has_ask()) {
    status = Ask(number, client, message.ask());
  } else if (message.has_release() && client.token == LeaseToken()) {
    Withdraw(client);
    client.link->Close(absl::OkStatus());
  } else if (client.token == LeaseToken()) {
    // A heartbeat while it waits, or what crossed with the end of the lease.
  } else if (!leases_.HolderIsAlive(client.token, clock_.Now())) {
    status = absl::UnavailableError("the lease has ended");
  } else if (message.has_items()) {
    status = AddItems(client, message.items());
  } else if (message.has_release()) {
    EndLease(client.token, absl::OkStatus());
  }
  if (!status.ok()) client.link->Close(status);
  Grant();
}

void Dispatcher::RemoveClient(int64_t number) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = clients_.find(number);
  if (found == clients_.end()) return;
  Withdraw(found->second);
  // The lease goes on for a while: the client may come back.
  const auto held = held_.find(found->second.token);
  if (held != held_.end() && held->second.client == number) held->second.client = 0;
  clients_.erase(found);
}

void Dispatcher::Withdraw(Client& client) {
  if (client.request == 0) return;
  leases_.Withdraw(client.request);
  client_of_request_.erase(client.request);
  client.request = 0;
}

absl::Status Dispatcher::Ask(int64_t number, Client& client, const proto::Ask& ask) {
  RETURN_IF_ERROR(CheckFleetVersion("client", ask.version()));
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

void Dispatcher::SetPriority(const std::string& member, int priority) {
  const std::lock_guard<std::mutex> lock(mutex_);
  priorities_[member] = priority;
}

void Dispatcher::ForgetPriority(const std::string& member) {
  const std::lock_guard<std::mutex> lock(mutex_);
  priorities_.erase(member);
}

bool Dispatcher::TakeBack(int64_t number, Client& client, const LeaseToken& token) {
  const auto held = held_.find(token);
  if (held == held_.end() || held->second.owner != client.who.who.owner ||
      !leases_.HolderIsAlive(token, clock_.Now()))
    return false;
  held->second.client = number;
  client.token = token;
  SendGranted(client, held->second);
  return true;
}

absl::Status Dispatcher::AddItems(const Client& client, const proto::Items& items) {
  Lease& lease = held_.at(client.token);
  for (const proto::Item& item : items.items()) {
    if (item.item().size() > kMaxItemBytes) return InvalidInput("an item is too large");
    lease.open[item.index()] = item;
  }
  if (std::ssize(lease.open) > kMaxItems)
    return InvalidInput("a lease has at most ", kMaxItems, " items that wait");
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
    Lease lease = {
        .device = grant.device, .owner = client.who.who.owner, .key = client.key, .client = number->second};
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

void Dispatcher::EndLease(const LeaseToken& token, const absl::Status& why) {
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
