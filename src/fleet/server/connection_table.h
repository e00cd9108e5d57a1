// The connections of one kind of members, each under a number of its own.
#ifndef ATTUNE_FLEET_SERVER_CONNECTION_TABLE_H_
#define ATTUNE_FLEET_SERVER_CONNECTION_TABLE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "fleet/identity/certificate.h"

namespace attune {

// No two connections ever have the same number, and no member has more than `most_of_member` at a time,
// except for the server itself. A `Connection` has at least `who`, the facts of its member's certificate,
// and `link`. Not thread safe.
template <typename Connection>
class ConnectionTable {
 public:
  using Connections = std::map<int64_t, Connection>;

  explicit ConnectionTable(int most_of_member) : most_of_member_(most_of_member) {}

  // Returns the number of the new connection, which is larger than 0. Closes it, and does not add it, if its
  // member has as many as it may.
  int64_t Add(const CertificateFacts& who, decltype(Connection::link) link) {
    ++last_;
    if (IsFull(who.who)) {
      link->Close(absl::ResourceExhaustedError(
          absl::StrCat("a member has at most ", most_of_member_, " connections at a time")));
    } else {
      connections_[last_] = {.who = who, .link = std::move(link)};
    }
    return last_;
  }
  void Erase(int64_t number) { connections_.erase(number); }

  // Returns null if there is no such connection. The result is valid until the connection is erased.
  Connection* Find(int64_t number) {
    const auto found = connections_.find(number);
    return found == connections_.end() ? nullptr : &found->second;
  }
  const Connection* Find(int64_t number) const {
    const auto found = connections_.find(number);
    return found == connections_.end() ? nullptr : &found->second;
  }
  // By their numbers.
  Connections& all() { return connections_; }
  const Connections& all() const { return connections_; }

  // Closes the connections of members whom `refusal` refuses, with its reason.
  void Close(const MemberRefusal& refusal) const {
    for (const auto& [number, connection] : connections_) {
      // The server itself shows no certificate.
      if (connection.who.who.role == FleetRole::kServer) continue;
      const absl::Status refused = refusal(connection.who);
      if (!refused.ok()) connection.link->Close(refused);
    }
  }
  // Adds the ids of all members that are connected.
  void AddMembers(std::set<std::string>& ids) const {
    for (const auto& [number, connection] : connections_) ids.insert(connection.who.who.id);
  }

 private:
  bool IsFull(const FleetIdentity& who) const {
    if (who.role == FleetRole::kServer) return false;
    return std::ranges::count_if(connections_, [&](const auto& entry) {
             return entry.second.who.who.id == who.id;
           }) >= most_of_member_;
  }

  const int most_of_member_;
  int64_t last_ = 0;
  Connections connections_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_CONNECTION_TABLE_H_
