// The machines of runners that are connected to a server.
#ifndef ATTUNE_SERVICE_QUEUE_CONNECTED_MACHINES_H_
#define ATTUNE_SERVICE_QUEUE_CONNECTED_MACHINES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/clock.h"
#include "fleet/identity/certificate.h"
#include "fleet/serving/link.h"
#include "fleet/serving/shared_credentials.h"
#include "service/wire/checked_messages.h"
#include "service/wire/jobs.pb.h"
#include "work/driver/local_host.h"

namespace attune {

using RunnerLink = Link<jobs_service_proto::ToRunner>;

// The slots that a machine's host has for its owner, whose jobs it takes, and for the programs that its
// operator has listed, which are not confined and so are its owner's alone. A machine of the server's takes
// the jobs of all owners if it keeps them from each other's files.
std::string OwnerSlot(const std::string& owner);
std::string ProgramSlot(const std::string& owner, const std::string& program);

// A machine that has connected.
struct RunnerMachine {
  int64_t connection = 0;
  std::string id;  // as in its certificate
  std::string owner;
  LocalHost host;  // with the slots above
};

struct MachineConnection {
  CertificateFacts who;
  std::shared_ptr<RunnerLink> link;
  bool is_there = false;  // it has said what it is
  RunnerMachine machine = {};
  int host = -1;                                // among the schedule's; -1: none
  std::map<std::string, int64_t> runners = {};  // by job
};

// Not thread safe. The clock must outlive it.
class ConnectedMachines {
 public:
  explicit ConnectedMachines(const Clock& clock) : clock_(clock) {}

  // A new connection, whose number it returns. One too many of a machine is closed with the reason, and is
  // not there.
  int64_t Add(const CertificateFacts& who, std::shared_ptr<RunnerLink> link);
  // Null if there is none with this number.
  MachineConnection* Find(int64_t number);
  // The machine has said what it is. Returns the number of its other connection, which is closed and no
  // longer there; nothing if it has none. InvalidArgument if it says so twice.
  absl::StatusOr<std::optional<int64_t>> Join(int64_t number, RunnerOffer offer);
  // Does nothing if it is not there.
  void Remove(int64_t number);

  // The machine's number among the schedule's hosts; and that no machine has one any more.
  void SetHost(int64_t number, int host);
  void ForgetHosts();
  // The number of the connection whose machine is this host.
  std::optional<int64_t> OnHost(int host) const;
  // The machines that have said what they are, if these are others than at the last call.
  std::optional<std::map<int64_t, RunnerMachine>> TakeChanged();

  const std::map<int64_t, MachineConnection>& all() const { return connections_; }
  // How many machines' credentials are used in two places (SharedCredentials).
  int64_t NumShared() const { return shared_.NumShared(clock_.Now()); }

 private:
  // Ends the machine's other connection, if there is one.
  std::optional<int64_t> Replace(int64_t number, const MachineConnection& connection);

  const Clock& clock_;
  std::map<int64_t, MachineConnection> connections_;
  int64_t last_ = 0;  // the number of the latest
  bool have_changed_ = true;
  SharedCredentials shared_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_QUEUE_CONNECTED_MACHINES_H_
