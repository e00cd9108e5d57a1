// One of several servers on one database: it serves the fleet while it has their lease, and else passes on to
// the one that has it.
#ifndef ATTUNE_SERVICE_REST_SHARED_SERVER_H_
#define ATTUNE_SERVICE_REST_SHARED_SERVER_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fleet/server/fleet_server.h"
#include "http/forwarder.h"
#include "service/rest/rest_server.h"
#include "service/server/job_schedule.h"
#include "service/server/server_lease.h"

namespace attune {

struct SharedServerOptions {
  FleetServerOptions fleet = {};  // its location must be in PostgreSQL; without an extension
  JobScheduleOptions jobs = {};
  RestServerOptions rest = {};  // no address: there is no REST
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

  // As FleetServer::Drain(), if this server serves the fleet; false if another one does.
  bool Drain();

 private:
  explicit SharedServer(const SharedServerOptions& options) : options_(options) {}

  // The loop of the thread.
  void Run();
  absl::Status Serve();
  void SetServing(FleetServer* server);
  absl::Status Forward();
  // REST's address as other servers reach it.
  std::string AddressForOthers(const std::string& address) const;

  SharedServerOptions options_;
  std::unique_ptr<ServerLease> lease_;
  std::unique_ptr<Forwarder> forwarder_;  // null while this server serves
  std::mutex mutex_;
  FleetServer* serving_ = nullptr;
  std::thread thread_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_SHARED_SERVER_H_
