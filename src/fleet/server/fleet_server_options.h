// The options of a fleet's server, and what serves its members beside it.
#ifndef ATTUNE_FLEET_SERVER_FLEET_SERVER_OPTIONS_H_
#define ATTUNE_FLEET_SERVER_FLEET_SERVER_OPTIONS_H_

#include <grpcpp/grpcpp.h>

#include <functional>
#include <optional>
#include <string>

#include "base/metrics_text.h"
#include "base/sql/sql_database.h"
#include "fleet/blobs/blob_store.h"
#include "fleet/identity/certificate.h"
#include "fleet/server/calibrator.h"
#include "fleet/server/dispatcher_snapshot.h"
#include "fleet/serving/file_calls.h"

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

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_FLEET_SERVER_OPTIONS_H_
