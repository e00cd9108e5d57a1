// The dispatcher closes connections of members whose certificates count no more or who say what makes no
// sense, asks others to renew, and knows who goes first.
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "fleet/server/dispatcher.h"

namespace attune {

void Dispatcher::EraseAgent(int64_t number) {
  const auto found = agents_.find(number);
  if (found == agents_.end()) return;
  const FleetIdentity& who = found->second.who.who;
  Log(LogLevel::kInfo, "agent is gone", "agent", who.id, "owner", who.owner);
  std::erase_if(agent_of_device_, [&](const auto& entry) { return entry.second == number; });
  agents_.erase(found);
}

void Dispatcher::EraseClient(int64_t number) {
  const auto found = clients_.find(number);
  if (found == clients_.end()) return;
  Withdraw(found->second);
  const auto held = held_.find(found->second.token);
  if (held != held_.end() && held->second.client == number) held->second.client = 0;
  clients_.erase(found);
}

void Dispatcher::Refuse(int64_t number, const absl::Status& why) {
  const Agent& agent = agents_.at(number);
  const FleetIdentity who = agent.who.who;
  Log(LogLevel::kWarning, "agent is refused", "agent", who.id, "owner", who.owner, "reason", why.message());
  agent.link->Close(why);
  std::vector<LeaseToken> leases;
  for (const auto& [token, lease] : held_) {
    const auto serving = agent_of_device_.find(lease.device);
    const bool is_its = serving != agent_of_device_.end() && serving->second == number;
    // After any other error it may come back, and continue.
    if (is_its && absl::IsInvalidArgument(why)) leases.push_back(token);
  }
  EraseAgent(number);
  for (const LeaseToken& token : leases)
    EndLease(token, absl::UnavailableError("the device's agent was refused"));
}

void Dispatcher::RefuseClient(int64_t number, const absl::Status& why) {
  Client& client = clients_.at(number);
  client.link->Close(why);
  if (absl::IsInvalidArgument(why)) {
    Log(LogLevel::kWarning, "client is refused", "client", client.who.who.id, "owner", client.who.who.owner,
        "reason", why.message());
    EndLease(client.token, why);
  }
  EraseClient(number);
}

void Dispatcher::Replace(const std::string& device, const Agent& agent) {
  const auto before = agent_of_device_.find(device);
  if (before == agent_of_device_.end()) return;
  const auto old = agents_.find(before->second);
  if (old == agents_.end() || &old->second == &agent) return;
  // An agent that was cut off may connect again before the old connection ends: the new one counts.
  const std::string there = old->second.link->peer(), here = agent.link->peer();
  old->second.link->Close(absl::AbortedError("the same agent has connected again"));
  EraseAgent(before->second);
  ++counters_.agents_replaced;
  const FleetIdentity& who = agent.who.who;
  if (!shared_.NoteReplaced(who.id, clock_.Now())) return;
  Log(LogLevel::kWarning, "an agent's credentials are used in two places", "agent", who.id, "owner",
      who.owner, "here", here, "and", there, "help",
      absl::StrCat("attune fleet revoke ", who.id, ", and invite both anew"));
}

void Dispatcher::Close(const MemberRefusal& refusal) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto close_if_refused = [&](const auto& connection) {
    if (connection.who.who.role == FleetRole::kServer)
      return;  // the server itself, which shows no certificate
    if (const absl::Status refused = refusal(connection.who); !refused.ok()) connection.link->Close(refused);
  };
  for (const auto& [number, agent] : agents_) close_if_refused(agent);
  for (const auto& [number, client] : clients_) close_if_refused(client);
}

void Dispatcher::AskToRenew(const std::string& authority) {
  fleet_proto::ToAgent message;
  message.mutable_renew();
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto& [number, agent] : agents_) {
    if (agent.who.authority == authority || agent.is_asked_to_renew) continue;
    agent.is_asked_to_renew = true;
    agent.link->Send(message);
  }
}

std::set<std::string> Dispatcher::Connected() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::set<std::string> ids;
  for (const auto& [number, agent] : agents_) ids.insert(agent.who.who.id);
  for (const auto& [number, client] : clients_) ids.insert(client.who.who.id);
  return ids;
}

void Dispatcher::SetPriority(const std::string& member, int priority) {
  const std::lock_guard<std::mutex> lock(mutex_);
  priorities_[member] = priority;
}

void Dispatcher::ForgetPriority(const std::string& member) {
  const std::lock_guard<std::mutex> lock(mutex_);
  priorities_.erase(member);
}

}  // namespace attune
