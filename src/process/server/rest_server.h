// REST of a server, in one process with its jobs and its fleet.
#ifndef ATTUNE_PROCESS_SERVER_REST_SERVER_H_
#define ATTUNE_PROCESS_SERVER_REST_SERVER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/rate_limit.h"
#include "fleet/blobs/blob_store.h"
#include "fleet/serving/fleet_parts.h"
#include "http/connection_counts.h"
#include "http/server.h"
#include "service/agreement/agreement_store.h"
#include "service/identity/issuers_file.h"
#include "service/models/model_store.h"
#include "service/queue/job_server.h"
#include "service/rest/stream_admission.h"
#include "service/state/audit_store.h"
#include "service/state/people_store.h"
#include "service/state/service_store.h"
#include "service/state/tenant_store.h"
#include "service/uploads/uploads.h"

namespace attune {

struct RestServerOptions {
  std::string address = {};  // as in HttpServerOptions
  std::optional<HttpTls> tls = {};
  std::string folder = {};   // of the server's state
  OidcIssuers issuers = {};  // none: people have tokens alone
  UploadLimits uploads = {};
  // The limit of one token: 1000 requests a second, in the long run.
  RateLimitOptions requests = {.at_once = 2000, .seconds_each = 0.001};
  StreamLimits streams = {};
  ConnectionLimits connections = {};
  // Called when it is about to listen; may be null.
  std::function<void()> before_listening = {};
  // Is told "host:port" where it listens.
  std::function<void(const std::string& address)> on_listening = {};
};

// Adds addresses of reverse proxies to the limits. Fails if one is no address.
absl::Status AddProxies(const std::vector<std::string>& addresses, ConnectionLimits& limits);

// The stores that outlast a server.
struct RestStores {
  std::unique_ptr<ServiceStore> service;
  std::unique_ptr<PeopleStore> people;
  std::unique_ptr<AuditStore> audit;
  std::unique_ptr<TenantStore> tenants;
  std::unique_ptr<ModelStore> models;
  std::unique_ptr<AgreementStore> agreements;
  std::unique_ptr<BlobStore> blobs;  // of uploads

  static absl::StatusOr<RestStores> Open(const SqlLocation& location, const RestServerOptions& options);
};

// Lets the schedule ask what tenants may use, and note what they have used. The stores must outlive it.
void HoldToQuotas(const RestStores& stores, JobScheduleOptions& scheduling);

// People's and programs' way to a server of jobs. Thread safe.
class RestServer {
 public:
  // The arguments must outlive it.
  RestServer(const RestServerOptions& options, JobServer& jobs, const RestStores& stores,
             const FleetParts& fleet);
  ~RestServer();

  void AddMetrics(MetricsText& text) const;
  // Answers from now on. Fails if the address is taken or the system has no thread to give. The server of
  // jobs must have begun.
  absl::Status Begin();
  // The server ends some seconds from now: clients that start something new are to go elsewhere.
  void Drain();
  // Answers no requests any more. To be called before the server of jobs stops.
  void Stop();

 private:
  class Parts;

  const std::unique_ptr<Parts> parts_;
};

}  // namespace attune

#endif  // ATTUNE_PROCESS_SERVER_REST_SERVER_H_
