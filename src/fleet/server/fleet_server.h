// The fleet's server: its services on their ports, and the state that outlives it.
#ifndef ATTUNE_FLEET_SERVER_FLEET_SERVER_H_
#define ATTUNE_FLEET_SERVER_FLEET_SERVER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fleet/server/fleet_server_options.h"
#include "fleet/serving/fleet_parts.h"

namespace attune {

// Thread safe once it serves.
class FleetServer {
 public:
  // Opens the state, and listens nowhere yet. Fails if the folder is damaged or another server has it.
  static absl::StatusOr<std::unique_ptr<FleetServer>> Open(const FleetServerOptions& options);
  ~FleetServer();

  // For services beside the fleet's own. They last until the destructor.
  FleetParts parts();

  // Answers members and those who enrol from now on. Fails if a port is taken. To be called once.
  absl::Status Listen(const ServiceForMembers& beside = {});
  // Tells metrics and health, and keeps house: called when the services beside have begun. Fails if the port
  // is taken or the system has no thread to give.
  absl::Status Begin();
  // Ends what Begin() has begun; calls are still answered.
  void StopHousekeeping();
  // Ends all calls, and answers none any more.
  void Shutdown();

  // From now on it says that it is not ready; it serves until Shutdown().
  void Drain();

  // "host:port" of the two services, as others reach them.
  const std::string& address() const;
  const std::string& enrolment_address() const;
  // "host:port" of metrics and health; empty if they are not told.
  const std::string& metrics_address() const;

 private:
  struct Parts;
  explicit FleetServer(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_FLEET_SERVER_H_
