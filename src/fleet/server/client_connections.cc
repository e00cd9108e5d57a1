#include "fleet/server/client_connections.h"

#include <utility>

namespace attune {
namespace {

// A client has a connection for each device that it uses or waits for.
constexpr int kMaxClientConnections = 1024;

}  // namespace

ClientConnections::ClientConnections() : clients_(kMaxClientConnections) {}

int64_t ClientConnections::Add(const CertificateFacts& who, std::shared_ptr<ClientLink> link) {
  return clients_.Add(who, std::move(link));
}

void ClientConnections::Wait(int64_t number, int64_t request, const std::string& key, double now) {
  Client& client = *clients_.Find(number);
  client.key = key;
  client.asked = now;
  client.request = request;
  waiting_[request] = number;
}

int64_t ClientConnections::StopWaiting(Client& client) {
  const int64_t request = std::exchange(client.request, 0);
  waiting_.erase(request);
  return request;
}

int64_t ClientConnections::Grant(int64_t request, const LeaseToken& token) {
  const int64_t number = waiting_.at(request);
  Client& client = *clients_.Find(number);
  StopWaiting(client);
  client.token = token;
  return number;
}

std::vector<int64_t> ClientConnections::Waiting() const {
  std::vector<int64_t> numbers;
  for (const auto& [number, client] : clients_.all())
    if (client.is_waiting()) numbers.push_back(number);
  return numbers;
}

int ClientConnections::PriorityOf(const std::string& member, int asked) const {
  const auto known = priorities_.find(member);
  return known == priorities_.end() ? asked : known->second;
}

}  // namespace attune
