// The two ports of a fleet's server, with their services: one for members, and one for those who enrol.
#ifndef ATTUNE_FLEET_SERVER_FLEET_LISTENERS_H_
#define ATTUNE_FLEET_SERVER_FLEET_LISTENERS_H_

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "fleet/server/enrolment_service.h"
#include "fleet/server/fleet_server_options.h"
#include "fleet/server/fleet_server_state.h"
#include "fleet/server/fleet_service.h"
#include "fleet/server/server_certificates.h"

namespace attune {

// Calls are answered from Listen() until Shutdown(), each by one of the state's parts. Not thread safe,
// except for the services.
class FleetListeners {
 public:
  // The state must outlive it.
  explicit FleetListeners(FleetServerState& state);
  // As Shutdown().
  ~FleetListeners() { Shutdown(); }
  FleetListeners(const FleetListeners&) = delete;
  FleetListeners& operator=(const FleetListeners&) = delete;

  // Answers from now on, `beside` too if it is not null, and tells the admission the addresses. The options
  // have a host. Fails if a port is taken. To be called once.
  absl::Status Listen(const FleetServerOptions& options, const ServerCertificates& certificates,
                      grpc::Service* beside);
  // Ends all calls, and answers none any more. May be called several times.
  void Shutdown();

  // "host:port" of the two services, as others reach them.
  const std::string& address() const { return address_; }
  const std::string& enrolment_address() const { return enrolment_address_; }
  const EnrolmentService& enrolment() const { return enrolment_service_; }

 private:
  FleetServerState& state_;
  FleetService service_;
  EnrolmentService enrolment_service_;
  std::string address_, enrolment_address_;
  std::unique_ptr<grpc::Server> server_, enrolment_;  // null: they do not listen
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_FLEET_LISTENERS_H_
