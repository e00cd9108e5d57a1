// The clients that are connected, and what each waits for or holds.
#ifndef ATTUNE_FLEET_SERVER_CLIENT_CONNECTIONS_H_
#define ATTUNE_FLEET_SERVER_CLIENT_CONNECTIONS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "fleet/identity/certificate.h"
#include "fleet/leases/fleet_leases.h"
#include "fleet/server/connection_table.h"
#include "fleet/serving/link.h"
#include "fleet/wire/fleet.pb.h"

namespace attune {

using ClientLink = Link<fleet_proto::ToClient>;

// A connection waits by one request, or has one lease, or neither; and each request that waits is that of one
// connection. Priorities outlast connections. Not thread safe.
class ClientConnections {
 public:
  struct Client {
    CertificateFacts who = {};
    std::shared_ptr<ClientLink> link = {};
    std::string key = {};   // that it has asked for
    int64_t request = 0;    // that waits; 0: none
    double asked = 0;       // when it asked, by the clock
    LeaseToken token = {};  // of its lease; zero: none

    bool is_waiting() const { return request != 0; }
    bool has_lease() const { return token != LeaseToken(); }
  };

  ClientConnections();

  // Returns the number of the connection for the other calls. Closes it, and does not add it, if the member
  // has as many as a client may.
  int64_t Add(const CertificateFacts& who, std::shared_ptr<ClientLink> link);
  // Returns null if the connection was removed.
  Client* Find(int64_t client) { return clients_.Find(client); }
  // Forgets the connection, which must not wait.
  void Remove(int64_t client) { clients_.Erase(client); }

  // The connection waits by this request, which is for this key, from `now` on.
  void Wait(int64_t client, int64_t request, const std::string& key, double now);
  // The connection waits no longer. Returns its request; 0 if it did not wait.
  int64_t StopWaiting(Client& client);
  // Gives the connection that waits by this request the lease with this token. Returns the connection's
  // number.
  int64_t Grant(int64_t request, const LeaseToken& token);
  // Returns the numbers of all connections that wait.
  std::vector<int64_t> Waiting() const;

  // All that this member asks for has this priority, whatever it says itself, until ForgetPriority().
  void SetPriority(const std::string& member, int priority) { priorities_[member] = priority; }
  void ForgetPriority(const std::string& member) { priorities_.erase(member); }
  // Returns the priority of the member's request, for which it has asked for `asked`.
  int PriorityOf(const std::string& member, int asked) const;

  // Closes the connections of members whom `refusal` refuses, with its reason.
  void Close(const MemberRefusal& refusal) const { clients_.Close(refusal); }
  // Adds the ids of all clients that are connected.
  void AddMembers(std::set<std::string>& ids) const { clients_.AddMembers(ids); }

 private:
  ConnectionTable<Client> clients_;
  std::map<int64_t, int64_t> waiting_;     // the connection of each request that waits
  std::map<std::string, int> priorities_;  // of members, by id
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_CLIENT_CONNECTIONS_H_
