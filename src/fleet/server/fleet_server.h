// The fleet's server: its services on their ports, and the state that outlives it.
#ifndef ATTUNE_FLEET_SERVER_FLEET_SERVER_H_
#define ATTUNE_FLEET_SERVER_FLEET_SERVER_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/file_descriptor.h"
#include "base/metrics_text.h"
#include "base/sql/sql_database.h"
#include "fleet/admission/admission.h"
#include "fleet/blobs/blob_store.h"
#include "fleet/identity/certificate.h"
#include "fleet/server/calibrator.h"
#include "fleet/server/dispatcher.h"
#include "fleet/serving/file_calls.h"
#include "fleet/serving/fleet_parts.h"
#include "fleet/store/fleet_store.h"

namespace attune {

// A service beside the fleet's own, on the port for members. All of it outlives FleetServer::Shutdown().
struct ServiceForMembers {
  grpc::Service* service = nullptr;
  // Adds the service's metrics to those of the server; null: it has none.
  std::function<void(MetricsText& text)> add_metrics = {};
  // Closes the connections of members whom `refusal` refuses, with its reason; null: it has none.
  std::function<void(const MemberRefusal& refusal)> close = {};
};

struct FleetServerOptions {
  std::string folder = {};  // of its state; created, for this user alone, if it is missing
  // In PostgreSQL, what must last is there, and the folder has what can be made anew; nothing: in the folder.
  std::optional<SqlLocation> location = {};
  // The two services listen here; port 0: any free one.
  std::string listen = "127.0.0.1:9190", enrolment = "127.0.0.1:9191";
  // The server tells metrics and health here by HTTP, to everyone who can reach it; empty: nowhere.
  std::string metrics = {};
  // The name or address that others reach this machine by; empty: that of `listen`.
  std::string host = {};
  DispatcherOptions dispatcher = {};
  BlobStoreOptions blobs = {};
  CalibratorOptions calibrator = {};
  FileCallLimits file_calls = {};
};

// While it is held, no server of another process has the folder; none (-1) if one has it.
absl::StatusOr<FileDescriptor> LockServerFolder(const std::string& folder);

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
