#include "fleet/server/agent_connections.h"

#include <utility>

#include "absl/status/status.h"
#include "base/log.h"

namespace attune {
namespace {

// An agent has one connection, and for moments the one that it has lost.
constexpr int kMaxAgentConnections = 4;

// Says what an operator can do about credentials that are used in two places.
std::string HelpWithShared(const std::string& agent) {
  return absl::StrCat("attune fleet revoke ", agent, ", and invite both anew");
}

}  // namespace

void AgentConnections::Agent::Update(const fleet_proto::AgentHeartbeat& heartbeat) {
  load = heartbeat.load();
  for (const auto& [name, share] : heartbeat.disturbance())
    if (const auto device = devices.find(IdOf(name)); device != devices.end())
      device->second.disturbance = share;
}

AgentConnections::AgentConnections() : agents_(kMaxAgentConnections) {}

int64_t AgentConnections::Add(const CertificateFacts& who, std::shared_ptr<AgentLink> link) {
  return agents_.Add(who, std::move(link));
}

void AgentConnections::Remove(int64_t number) {
  const Agent* agent = agents_.Find(number);
  if (agent == nullptr) return;
  Log(LogLevel::kInfo, "agent is gone", "agent", agent->who.who.id, "owner", agent->who.who.owner);
  std::erase_if(serving_, [&](const auto& entry) { return entry.second == number; });
  agents_.Erase(number);
}

void AgentConnections::Serve(int64_t number, const std::string& device, std::vector<std::string> sensors,
                             double now) {
  Agent& agent = *agents_.Find(number);
  const auto before = serving_.find(device);
  if (before != serving_.end() && before->second != number) Replace(before->second, agent, now);
  serving_[device] = number;
  agent.devices[device] = {.sensors = std::move(sensors)};
}

void AgentConnections::Replace(int64_t number, const Agent& by, double now) {
  // An agent that was cut off may connect again before the old connection ends: the new one counts.
  const std::shared_ptr<AgentLink> old = agents_.Find(number)->link;
  old->Close(absl::AbortedError("the same agent has connected again"));
  Remove(number);
  ++num_replaced_;
  const FleetIdentity& who = by.who.who;
  if (!shared_.NoteReplaced(who.id, now)) return;
  Log(LogLevel::kWarning, "an agent's credentials are used in two places", "agent", who.id, "owner",
      who.owner, "here", by.link->peer(), "and", old->peer(), "help", HelpWithShared(who.id));
}

const AgentConnections::Agent* AgentConnections::Serving(const std::string& device) const {
  const auto number = serving_.find(device);
  return number == serving_.end() ? nullptr : agents_.Find(number->second);
}

void AgentConnections::Send(const std::string& device, const fleet_proto::ToAgent& message) const {
  if (const Agent* agent = Serving(device); agent != nullptr) agent->link->Send(message);
}

void AgentConnections::Describe(const std::string& id, double now, fleet_proto::Device& described) const {
  const Agent* agent = Serving(id);
  if (agent == nullptr) return;
  const Agent::Device& device = agent->devices.at(id);
  described.set_is_there(true);
  described.set_load(agent->load);
  if (device.disturbance) described.set_disturbance(*device.disturbance);
  described.set_program(agent->program);
  described.mutable_lacks()->Assign(agent->lacks.begin(), agent->lacks.end());
  described.mutable_sensors()->Assign(device.sensors.begin(), device.sensors.end());
  const std::string& member = agent->who.who.id;
  if (shared_.IsShared(member, now))
    described.set_warning(
        absl::StrCat("its agent's credentials are used in two places; ", HelpWithShared(member)));
}

void AgentConnections::AskToRenew(const std::string& authority) {
  fleet_proto::ToAgent message;
  message.mutable_renew();
  for (auto& [number, agent] : agents_.all()) {
    if (agent.who.authority == authority || agent.is_asked_to_renew) continue;
    agent.is_asked_to_renew = true;
    agent.link->Send(message);
  }
}

}  // namespace attune
