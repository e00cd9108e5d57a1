// The dispatcher closes connections of members whose certificates count no more, and asks others to renew.
#include <mutex>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "fleet/server/dispatcher.h"

namespace attune {

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

}  // namespace attune
