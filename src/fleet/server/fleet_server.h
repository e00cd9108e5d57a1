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
#include "base/sql/sql_database.h"
#include "fleet/blobs/blob_store.h"
#include "fleet/identity/certificate.h"
#include "fleet/server/admission.h"
#include "fleet/server/calibrator.h"
#include "fleet/server/dispatcher.h"
#include "fleet/server/file_calls.h"
#include "fleet/server/metrics_text.h"
#include "fleet/store/fleet_store.h"

namespace attune {

// The parts of a server that services of others need. All outlive these services.
struct FleetServerParts {
  Dispatcher& dispatcher;
  BlobStore& blobs;
  FleetStore& store;
  Admission& admission;
  FileCalls& file_calls;
  // Where stores are that must last. Those of the folder are this server's alone.
  const SqlLocation& location;
};

// One more service for members.
class FleetExtension {
 public:
  virtual ~FleetExtension() = default;

  virtual grpc::Service& service() = 0;
  // Adds the service's own metrics to those of the server.
  virtual void AddMetrics(MetricsText& text) const = 0;
  // The server is reached from now on. Fails if the service cannot begin.
  virtual absl::Status Begin() = 0;
  // The server ends some seconds from now, so that whoever begins something new is to go elsewhere. May be
  // called by any thread.
  virtual void Drain() {}
  // The server ends soon. Cuts short what the service does by itself; calls are still answered.
  virtual void Stop() = 0;
  // Closes the connections of members whom `refusal` refuses, with its reason.
  virtual void Close(const MemberRefusal& refusal) = 0;
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
  // Makes the service, on the port for members; null: there is none.
  std::function<absl::StatusOr<std::unique_ptr<FleetExtension>>(const FleetServerParts&)> extension = {};
};

// While it is held, no server of another process has the folder; none (-1) if one has it.
absl::StatusOr<FileDescriptor> LockServerFolder(const std::string& folder);

// Serves until it is destroyed. Thread safe.
class FleetServer {
 public:
  // Fails if the folder is damaged or another server has it, or if a port is taken.
  static absl::StatusOr<std::unique_ptr<FleetServer>> Start(const FleetServerOptions& options);
  ~FleetServer();

  // From now on it says that it is not ready, and takes no new work; it serves all else until it is
  // destroyed.
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
