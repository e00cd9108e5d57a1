// One of several servers on one database: it serves the fleet while it has their lease, and else passes on to
// the one that has it.
#ifndef ATTUNE_PROCESS_SERVER_SHARED_SERVER_H_
#define ATTUNE_PROCESS_SERVER_SHARED_SERVER_H_

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fleet/server/fleet_server.h"
#include "http/forwarder.h"
#include "process/server/rest_server.h"
#include "process/server/server_lease.h"
#include "service/queue/job_server.h"

namespace attune {

// All that one server process serves: a fleet, the jobs that measure on it, and REST.
//
// Fleet and service know nothing of each other's servers. This is where the parts are made, in the order in
// which they need one another, and ended in the reverse order.
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

struct SharedServerOptions {
  ServerProcessOptions server = {};  // the fleet's location must be in PostgreSQL
  std::string machine =
      {};  // the name that other servers reach this machine by, where REST's address has none
  ServerLeaseOptions lease = {};
  // Is told each time that this server begins to serve the fleet. Fails if it cannot.
  std::function<absl::Status(const FleetServer&)> on_serving = {};
};

// Serves until it is destroyed.
class SharedServer {
 public:
  // Fails if the database cannot be reached, or if REST's address is taken.
  static absl::StatusOr<std::unique_ptr<SharedServer>> Start(const SharedServerOptions& options);
  ~SharedServer();

  // As ServerProcess::Drain(), if this server serves the fleet; false if another one does.
  bool Drain();

 private:
  explicit SharedServer(const SharedServerOptions& options) : options_(options) {}

  // The loop of the thread.
  void Run();
  absl::Status Serve();
  void SetServing(ServerProcess* server);
  absl::Status Forward();
  // REST's address as other servers reach it.
  std::string AddressForOthers(const std::string& address) const;

  SharedServerOptions options_;
  std::unique_ptr<ServerLease> lease_;
  std::unique_ptr<Forwarder> forwarder_;  // null while this server serves
  std::mutex mutex_;
  ServerProcess* serving_ = nullptr;
  std::thread thread_;
};

}  // namespace attune

#endif  // ATTUNE_PROCESS_SERVER_SHARED_SERVER_H_
