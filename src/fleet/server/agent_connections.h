// The agents that are connected, what they tell, and which of them serves which device.
#ifndef ATTUNE_FLEET_SERVER_AGENT_CONNECTIONS_H_
#define ATTUNE_FLEET_SERVER_AGENT_CONNECTIONS_H_

#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fleet/identity/certificate.h"
#include "fleet/server/connection_table.h"
#include "fleet/serving/link.h"
#include "fleet/serving/shared_credentials.h"
#include "fleet/wire/fleet.pb.h"

namespace attune {

using AgentLink = Link<fleet_proto::ToAgent>;

// Each device is served by one connection at most, the latest one that has offered it; a device that none
// serves is away. Times are seconds of one monotonic clock. Not thread safe.
class AgentConnections {
 public:
  struct Agent {
    struct Device {
      std::vector<std::string> sensors = {};
      std::optional<double> disturbance = {};  // a share; nothing: it has not been told yet
    };

    CertificateFacts who = {};
    std::shared_ptr<AgentLink> link = {};
    bool has_joined = false;  // it has said what it offers
    std::string program = {};
    std::vector<std::string> lacks = {};
    std::map<std::string, Device> devices = {};  // that it offers, by their ids
    double load = 0;
    bool is_asked_to_renew = false;
    bool has_sent_stale = false;  // results, which is logged once

    // Returns the id within the fleet of its device with this name.
    std::string IdOf(const std::string& name) const { return absl::StrCat(who.who.id, "/", name); }
    // Takes what a sign of life tells. Devices that it does not offer are left out.
    void Update(const fleet_proto::AgentHeartbeat& heartbeat);
  };

  AgentConnections();

  // Returns the number of the connection for the other calls. Closes it, and does not add it, if the member
  // has as many as an agent may.
  int64_t Add(const CertificateFacts& who, std::shared_ptr<AgentLink> link);
  // Returns null if the connection was removed.
  Agent* Find(int64_t agent) { return agents_.Find(agent); }
  // Forgets the connection, if it is there; the devices that it serves are away.
  void Remove(int64_t agent);
  int64_t size() const { return std::ssize(agents_.all()); }

  // The connection offers the device, and serves it from now on. Another connection that serves it is closed
  // and removed.
  void Serve(int64_t agent, const std::string& device, std::vector<std::string> sensors, double now);
  // No connection serves the device any more.
  void Withdraw(const std::string& device) { serving_.erase(device); }
  // Returns the connection that serves the device; null if the device is away.
  const Agent* Serving(const std::string& device) const;
  // Sends the message to the agent that serves the device; does nothing if the device is away.
  void Send(const std::string& device, const fleet_proto::ToAgent& message) const;
  // Fills in what the agent tells that serves the device; does nothing if the device is away.
  void Describe(const std::string& device, double now, fleet_proto::Device& described) const;

  // Asks agents to renew certificates that are not of this authority, once on each connection.
  void AskToRenew(const std::string& authority);
  // Closes the connections of members whom `refusal` refuses, with its reason.
  void Close(const MemberRefusal& refusal) const { agents_.Close(refusal); }
  // Adds the ids of all agents that are connected.
  void AddMembers(std::set<std::string>& ids) const { agents_.AddMembers(ids); }

  // Returns how many connections ended as the same agent had connected again.
  int64_t num_replaced() const { return num_replaced_; }
  // Returns how many agents' credentials are used in two places.
  int64_t NumShared(double now) const { return shared_.NumShared(now); }

 private:
  // Closes and removes the connection, whose device `by` offers too.
  void Replace(int64_t agent, const Agent& by, double now);

  ConnectionTable<Agent> agents_;
  std::map<std::string, int64_t> serving_;  // the connection of each device that is there
  SharedCredentials shared_;
  int64_t num_replaced_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_AGENT_CONNECTIONS_H_
