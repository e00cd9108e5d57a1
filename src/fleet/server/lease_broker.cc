#include "fleet/server/lease_broker.h"

#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"
#include "fleet/leases/device_owners.h"
#include "fleet/wire/token.h"

namespace attune {
namespace {

namespace proto = fleet_proto;

proto::ToAgent StopMessage(const LeaseToken& token) {
  proto::ToAgent message;
  ToWire(token, *message.mutable_stop()->mutable_token());
  return message;
}

}  // namespace

absl::Status LeaseBroker::Load() {
  ASSIGN_OR_RETURN(const std::vector<HeldLease> leases, store_.Leases());
  for (const HeldLease& lease : leases) {
    if (!leases_.Restore(lease.device, lease.token, clock_.Now())) continue;
    held_.Add(lease.token, {.device = lease.device, .owner = lease.owner, .key = lease.key});
  }
  EndForbidden();  // an earlier version let everybody use everything
  return absl::OkStatus();
}

std::set<LeaseToken> LeaseBroker::LeasesOf(const AgentConnections::Agent& agent) const {
  std::set<LeaseToken> tokens;
  for (const auto& [id, device] : agent.devices)
    if (const std::optional<LeaseToken> token = held_.OfDevice(id); token) tokens.insert(*token);
  return tokens;
}

void LeaseBroker::Welcome(const AgentConnections::Agent& agent) {
  proto::ToAgent welcome;
  welcome.mutable_welcome()->set_lease_seconds(options_.lease_seconds);
  welcome.mutable_welcome()->set_heartbeat_seconds(options_.heartbeat_seconds);
  agent.link->Send(welcome);
  for (const LeaseToken& token : LeasesOf(agent)) {
    const HeldLeases::Lease& lease = *held_.Find(token);
    SendWork(token, lease, lease.OpenItems());
  }
}

void LeaseBroker::SignOfLife(const AgentConnections::Agent& agent) {
  proto::ToClient alive;
  alive.mutable_device_is_alive();
  const double now = clock_.Now();
  for (const auto& [id, device] : agent.devices) leases_.DeviceIsAlive(id, now);
  for (const LeaseToken& token : LeasesOf(agent)) {
    HeldLeases::Lease& lease = *held_.Find(token);
    const ClientConnections::Client* client = clients_.Find(lease.client);
    if (client == nullptr) continue;
    // An agent that beats without pause is not to drown the client.
    if (now - lease.told_alive < options_.heartbeat_seconds / 2) continue;
    lease.told_alive = now;
    client->link->Send(alive);
  }
}

absl::Status LeaseBroker::PassOn(AgentConnections::Agent& agent, const proto::Result& result,
                                 const Measurement& measurement) {
  const LeaseToken token = FromWire(result.token());
  HeldLeases::Lease* lease = held_.Find(token);
  const bool is_current =
      lease != nullptr && agent.devices.contains(lease->device) && leases_.IsCurrent(lease->device, token);
  if (!is_current) {
    RefuseStale(agent, token);
    return absl::OkStatus();
  }
  SignOfLife(agent);
  // A client that is away asks for the result again when it comes back.
  const ClientConnections::Client* client = clients_.Find(lease->client);
  if (client == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const bool is_open, lease->TakeResult(result.index(), measurement));
  if (!is_open) {  // the agent answers twice, or without a request
    ++counters_.results_refused;
    return absl::OkStatus();
  }
  proto::ToClient message;
  *message.mutable_result() = result;
  client->link->Send(message);
  ++counters_.results_passed_on;
  return absl::OkStatus();
}

void LeaseBroker::RefuseStale(AgentConnections::Agent& agent, const LeaseToken& token) {
  ++counters_.results_refused;
  if (!std::exchange(agent.has_sent_stale, true))
    Log(LogLevel::kInfo, "result under a stale token is refused", "agent", agent.who.who.id, "lease",
        TokenText(token));
  agent.link->Send(StopMessage(token));
}

absl::Status LeaseBroker::Ask(int64_t number, const proto::Ask& ask) {
  const ClientConnections::Client& client = *clients_.Find(number);
  const FleetIdentity& who = client.who.who;
  if (client.is_waiting() || client.has_lease()) return InvalidInput("one connection asks once");
  if (ask.has_resumed() && Resume(number, FromWire(ask.resumed()))) return absl::OkStatus();
  RETURN_IF_ERROR(CheckKey(ask.key(), who.owner));
  const int priority = clients_.PriorityOf(who.id, ask.priority());
  const int64_t request = leases_.Ask({.key = ask.key(), .owner = who.owner, .priority = priority});
  clients_.Wait(number, request, ask.key(), clock_.Now());
  return absl::OkStatus();
}

bool LeaseBroker::Resume(int64_t number, const LeaseToken& token) {
  HeldLeases::Lease* lease = held_.Find(token);
  if (lease == nullptr) return false;
  ClientConnections::Client& client = *clients_.Find(number);
  const FleetIdentity& who = client.who.who;
  const bool is_its = lease->owner == who.owner && (lease->member.empty() || lease->member == who.id);
  if (!is_its || !leases_.HolderIsAlive(token, clock_.Now())) return false;
  lease->member = who.id;
  if (ClientConnections::Client* before = clients_.Find(lease->client); before != nullptr) {
    before->token = {};
    before->link->Close(absl::AbortedError("the lease was resumed by another connection"));
  }
  lease->client = number;
  client.token = token;
  SendGranted(client, *lease);
  return true;
}

void LeaseBroker::Withdraw(ClientConnections::Client& client) {
  if (client.is_waiting()) leases_.Withdraw(clients_.StopWaiting(client));
}

absl::Status LeaseBroker::AddItems(const ClientConnections::Client& client, const proto::Items& items) {
  HeldLeases::Lease& lease = *held_.Find(client.token);
  RETURN_IF_ERROR(lease.Open(items));
  SendWork(client.token, lease, {items.items().begin(), items.items().end()});
  return absl::OkStatus();
}

void LeaseBroker::RemoveClient(int64_t number) {
  ClientConnections::Client* client = clients_.Find(number);
  if (client == nullptr) return;
  Withdraw(*client);
  HeldLeases::Lease* lease = held_.Find(client->token);
  if (lease != nullptr && lease->client == number) lease->client = 0;
  clients_.Remove(number);
}

void LeaseBroker::SendGranted(const ClientConnections::Client& client, const HeldLeases::Lease& lease) {
  proto::ToClient message;
  proto::Granted* granted = message.mutable_granted();
  ToWire(client.token, *granted->mutable_token());
  granted->set_device(lease.device);
  if (const FleetDevice* device = devices_.Find(lease.device); device != nullptr)
    granted->set_info(device->info);
  granted->set_heartbeat_seconds(options_.heartbeat_seconds);
  client.link->Send(message);
}

void LeaseBroker::SendWork(const LeaseToken& token, const HeldLeases::Lease& lease,
                           const std::vector<proto::Item>& items) {
  proto::ToAgent message;
  proto::Work* work = message.mutable_work();
  ToWire(token, *work->mutable_token());
  work->set_device(lease.device.substr(lease.device.rfind('/') + 1));
  work->set_owner(lease.owner);
  work->mutable_items()->Assign(items.begin(), items.end());
  agents_.Send(lease.device, message);
}

void LeaseBroker::Grant() {
  for (const DeviceGrant& grant : leases_.Grant(clock_.Now())) {
    const int64_t number = clients_.Grant(grant.request, grant.token);
    ClientConnections::Client& client = *clients_.Find(number);
    HeldLeases::Lease lease = {.device = grant.device,
                               .owner = client.who.who.owner,
                               .key = client.key,
                               .member = client.who.who.id,
                               .client = number};
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
    SendGranted(client, held_.Add(grant.token, std::move(lease)));
  }
}

void LeaseBroker::End(const LeaseToken token, const absl::Status& why) {
  leases_.Release(token);
  const HeldLeases::Lease* lease = held_.Find(token);
  if (lease == nullptr) return;
  Log(LogLevel::kInfo, "lease ends", "lease", TokenText(token), "device", lease->device, "owner",
      lease->owner, "reason", why.message());
  ++counters_.leases_ended;
  agents_.Send(lease->device, StopMessage(token));
  if (ClientConnections::Client* client = clients_.Find(lease->client); client != nullptr) {
    client->token = {};
    client->link->Close(why);
  }
  held_.Remove(token);
  // If the store still knows it after a restart, it ends then.
  if (const absl::Status written = store_.EndLease(token); !written.ok())
    Log(LogLevel::kError, "the end of a lease is not kept", "reason", written.message());
}

void LeaseBroker::EndSilent() {
  for (const LostLease& lost : leases_.EndSilent(clock_.Now())) {
    ++counters_.leases_lost;
    const std::string_view who = lost.device_was_silent ? "the device gives" : "its holder gave";
    End(lost.token, absl::UnavailableError(absl::StrCat(lost.device, ": ", who, " no signs of life")));
  }
}

void LeaseBroker::EndForbidden() {
  std::set<LeaseToken> forbidden;
  for (const auto& [token, lease] : held_.all())
    if (devices_.Find(lease.device) != nullptr && !devices_.owners().MayUse(lease.device, lease.owner))
      forbidden.insert(token);
  for (const LeaseToken& token : forbidden)
    End(token, absl::UnavailableError("the device may not be used for this work any more"));
  for (const int64_t number : clients_.Waiting()) {
    ClientConnections::Client& client = *clients_.Find(number);
    const absl::Status served = CheckKey(client.key, client.who.who.owner);
    if (served.ok()) continue;
    Withdraw(client);
    client.link->Close(served);
  }
}

absl::Status LeaseBroker::CheckKey(const std::string& key, const std::string& owner) const {
  return devices_.CheckKey(
      key, owner,
      [this](const std::string& device, const std::string& asker) { return leases_.MayServe(device, asker); },
      clock_.Now());
}

}  // namespace attune
