// One of several servers on one database: it serves the fleet while it has their lease, and else passes on to
// the one that has it.
#ifndef ATTUNE_PROCESS_SERVER_SHARED_SERVER_H_
#define ATTUNE_PROCESS_SERVER_SHARED_SERVER_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "http/forwarder.h"
#include "process/server/server_lease.h"
#include "process/server/server_process.h"

namespace attune {

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
