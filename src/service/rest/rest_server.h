// REST beside the jobs' service of a fleet's server, in one process with it.
#ifndef ATTUNE_SERVICE_REST_REST_SERVER_H_
#define ATTUNE_SERVICE_REST_REST_SERVER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/rate_limit.h"
#include "fleet/server/fleet_server.h"
#include "http/connection_counts.h"
#include "http/server.h"
#include "service/rest/oidc/issuers_file.h"
#include "service/rest/stream_admission.h"
#include "service/rest/uploads.h"
#include "service/server/job_server.h"

namespace attune {

struct RestServerOptions {
  std::string address = {};  // as in HttpServerOptions
  std::optional<HttpTls> tls = {};
  std::string folder = {};   // of the server's state
  OidcIssuers issuers = {};  // none: people have tokens alone
  UploadLimits uploads = {};
  // Of one token: 1000 requests a second, in the long run.
  RateLimitOptions requests = {.at_once = 2000, .seconds_each = 0.001};
  StreamLimits streams = {};
  ConnectionLimits connections = {};
  // Is called when it is about to listen; null: nobody is.
  std::function<void()> before_listening = {};
  // Is told "host:port" where it listens.
  std::function<void(const std::string& address)> on_listening = {};
};

// Adds addresses of reverse proxies to the limits. Fails if one is no address.
absl::Status AddProxies(const std::vector<std::string>& addresses, ConnectionLimits& limits);

// The service Jobs, and REST that asks the same desk. Fails if one of them cannot be made.
absl::StatusOr<std::unique_ptr<FleetExtension>> MakeRestServer(const JobScheduleOptions& jobs,
                                                               const RestServerOptions& options,
                                                               const FleetServerParts& parts);

}  // namespace attune

#endif  // ATTUNE_SERVICE_REST_REST_SERVER_H_
