// All that one server process serves: a fleet, the jobs that measure on it, and REST.
//
// Fleet and service know nothing of each other's servers. This is where the parts are made, in the order in
// which they need one another, and ended in the reverse order.
#ifndef ATTUNE_PROCESS_SERVER_SERVER_PROCESS_H_
#define ATTUNE_PROCESS_SERVER_SERVER_PROCESS_H_

#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "fleet/server/fleet_server.h"
#include "process/server/rest_server.h"
#include "service/queue/job_server.h"

namespace attune {

struct ServerProcessOptions {
  FleetServerOptions fleet = {};
  JobScheduleOptions jobs = {};
  RestServerOptions rest = {};  // no address: there is no REST
};

// Serves until it is destroyed. Thread safe.
class ServerProcess {
 public:
  // Fails if the state is damaged or another server has it, or if a port is taken.
  static absl::StatusOr<std::unique_ptr<ServerProcess>> Start(const ServerProcessOptions& options);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // From now on it says that it is not ready, and takes no new work; it serves all else until it is
  // destroyed. May be called by any thread.
  void Drain();

  const FleetServer& fleet() const { return *fleet_; }

 private:
  explicit ServerProcess(std::unique_ptr<FleetServer> fleet) : fleet_(std::move(fleet)) {}

  absl::Status Make(const ServerProcessOptions& options);
  ServiceForMembers Runners();

  const std::unique_ptr<FleetServer> fleet_;
  std::optional<RestStores> stores_;  // nothing, as below: there is no REST
  std::unique_ptr<JobServer> jobs_;
  std::unique_ptr<RestServer> rest_;
};

}  // namespace attune

#endif  // ATTUNE_PROCESS_SERVER_SERVER_PROCESS_H_
