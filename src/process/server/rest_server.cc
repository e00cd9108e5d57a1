#include "process/server/rest_server.h"

#include <atomic>
#include <utility>

#include "base/printable.h"
#include "base/status.h"
#include "fleet/blobs/sql_blob_store.h"
#include "http/oidc/http_oidc_fetcher.h"
#include "http/router.h"
#include "process/server/holdings.h"
#include "process/server/tenant_use.h"
#include "service/agreement/agreements.h"
#include "service/identity/local_tokens.h"
#include "service/models/model_store.h"
#include "service/page/page.h"
#include "service/rest/gate.h"
#include "service/rest/job_events.h"
#include "service/rest/operations.h"
#include "service/state/service_store.h"

namespace attune {
namespace {

constexpr int kThreads = 8;  // that answer; most requests wait for the schedule's thread or the disk

}  // namespace

class RestServer::Parts {
 public:
  Parts(const RestServerOptions& options, JobServer& jobs, const RestStores& stores, const FleetParts& parts)
      : options_(options),
        jobs_(jobs),
        stores_(stores),
        audit_(*stores_.audit),
        logins_(options.issuers.issuers.empty() ? nullptr
                                                : std::make_unique<OidcLogins>(options.issuers, fetcher_)),
        uploads_(*stores_.service, *stores_.blobs, options.uploads),
        models_(*stores_.models, *stores_.blobs, {.folder = options.folder + "/imports"}),
        agreements_(*stores_.agreements, models_, jobs_.schedule().reader(), jobs_.schedule().ended(),
                    parts.devices, [this] { return TenantsThatAnswer(*stores_.tenants); }),
        events_(jobs_.schedule().reader()),
        callers_({.tokens = *stores_.service,
                  .people = *stores_.people,
                  .audit = audit_,
                  .logins = logins_.get(),
                  .is_encrypted = options.tls.has_value()}),
        tenants_(*stores_.tenants, [this](const std::string& tenant) { return stored_.StateOf(tenant); }),
        remover_(*stores_.tenants, HoldingsOf({.jobs = jobs_.schedule().reader(),
                                               .control = jobs_.schedule().control(),
                                               .learning = jobs_.schedule().learning(),
                                               .models = models_,
                                               .uploads = uploads_,
                                               .service = *stores_.service,
                                               .people = *stores_.people,
                                               .known = agreements_.known(),
                                               .quantizations = agreements_.quantizations(),
                                               .audit = *stores_.audit,
                                               .devices = parts.devices,
                                               .fleet = parts.store,
                                               .runners = jobs_})),
        gate_(callers_, audit_, tenants_, options.requests, options.folder, SystemClock(), options.streams),
        api_(MakeRestApi({.store = *stores_.service,
                          .people = *stores_.people,
                          .audit = *stores_.audit,
                          .tenants = tenants_,
                          .remover = remover_,
                          .folder = options.folder,
                          .callers = callers_,
                          .logins = logins_.get(),
                          .uploads = uploads_,
                          .models = models_,
                          .submissions = jobs_.schedule().submissions(),
                          .jobs = jobs_.schedule().reader(),
                          .control = jobs_.schedule().control(),
                          .learning = jobs_.schedule().learning(),
                          .signer = jobs_.schedule().signer(),
                          .forecaster = agreements_.forecaster(),
                          .events = events_,
                          .devices = parts.devices,
                          .fleet = parts.store})) {}

  void AddMetrics(MetricsText& text) const {
    models_.AddMetrics(text);
    gate_.metrics().AddTo(text);
    tenants_.AddMetrics(text);
    agreements_.promises().AddTo(text);
    text.Begin("attune_event_streams", "gauge", "Clients that follow a job.");
    text.Add(static_cast<double>(events_.streams()));
    text.Begin("attune_uploads_bytes", "gauge", "Bytes of complete uploads.");
    text.Add(static_cast<double>(stores_.blobs->bytes()));
    text.Begin("attune_http_connections", "gauge", "Open connections of people and programs.");
    const HttpServer* const listening = listening_;
    text.Add(listening == nullptr ? 0 : static_cast<double>(listening->connections()));
    text.Begin("attune_http_connections_refused_total", "counter",
               "Connections that were closed because their address, or the server, had too many.");
    text.Add(listening == nullptr ? 0 : static_cast<double>(listening->refused_connections()));
    text.Begin("attune_event_streams_refused_total", "counter",
               "Streams of events that were refused because a token, a tenant or the server had too many.");
    text.Add(static_cast<double>(gate_.streams().refused()));
    text.Begin("attune_draining", "gauge", "Whether the server is ending.");
    text.Add(gate_.is_draining() ? 1 : 0);
  }

  absl::Status Begin() {
    RETURN_IF_ERROR(models_.Begin());
    RETURN_IF_ERROR(agreements_.Begin());
    RETURN_IF_ERROR(events_.Begin());
    RETURN_IF_ERROR(audit_.Begin());
    RETURN_IF_ERROR(remover_.Begin());
    RETURN_IF_ERROR(cleaner_.Begin());
    RETURN_IF_ERROR(gate_.streams().Begin());
    if (logins_ != nullptr) RETURN_IF_ERROR(logins_->Begin());
    HttpRouter router = RouterOf(api_, gate_);
    AddHealthRoutes([this] { return Readiness(); }, router);
    ServePage(EmbeddedPage(), router);
    if (options_.before_listening) options_.before_listening();
    ASSIGN_OR_RETURN(http_, HttpServer::Start({.address = options_.address,
                                               .tls = options_.tls,
                                               .limits = options_.connections,
                                               .threads = kThreads},
                                              std::move(router)));
    listening_ = http_.get();
    if (options_.on_listening) options_.on_listening(http_->address());
    return absl::OkStatus();
  }

  void Drain() {
    gate_.Drain();
    events_.Stop();
  }

  void Stop() {
    events_.Stop();
    listening_ = nullptr;
    remover_.Stop();
    cleaner_.Stop();
    gate_.streams().Stop();
    http_.reset();  // requests that are under way may still ask for jobs
    agreements_.Stop();
    models_.Stop();
  }

 private:
  absl::Status Readiness() {
    if (gate_.is_draining()) return absl::UnavailableError("the server is ending");
    return jobs_.schedule().AreKept() ? absl::OkStatus()
                                      : absl::UnavailableError("jobs cannot be stored now");
  }

  const RestServerOptions options_;
  JobServer& jobs_;
  const RestStores& stores_;
  AuditLog audit_;
  HttpOidcFetcher fetcher_;
  const std::unique_ptr<OidcLogins> logins_;  // null: no issuer is trusted
  Uploads uploads_;
  Models models_;
  Agreements agreements_;
  JobEvents events_;
  Callers callers_;
  TenantUse stored_{jobs_.schedule().reader(), *stores_.service};
  Tenants tenants_;
  TenantRemover remover_;
  UploadCleaner cleaner_{uploads_,
                         [this](const std::string& tenant) { return FilesOfModels(models_, tenant); }};
  Gate gate_;
  const RestApi api_;
  std::unique_ptr<HttpServer> http_;
  std::atomic<const HttpServer*> listening_ = nullptr;  // the same, for those who read metrics
};

RestServer::RestServer(const RestServerOptions& options, JobServer& jobs, const RestStores& stores,
                       const FleetParts& fleet)
    : parts_(std::make_unique<Parts>(options, jobs, stores, fleet)) {}
RestServer::~RestServer() = default;

void RestServer::AddMetrics(MetricsText& text) const { parts_->AddMetrics(text); }
absl::Status RestServer::Begin() { return parts_->Begin(); }
void RestServer::Drain() { parts_->Drain(); }
void RestServer::Stop() { parts_->Stop(); }

absl::Status AddProxies(const std::vector<std::string>& addresses, ConnectionLimits& limits) {
  for (const std::string& text : addresses) {
    const std::string address = AddressNamed(text);
    if (address.empty()) return InvalidInput("\"", Printable(text), "\" is not an address such as 192.0.2.7");
    limits.proxies.insert(address);
  }
  return absl::OkStatus();
}

absl::StatusOr<RestStores> RestStores::Open(const SqlLocation& location, const RestServerOptions& options) {
  RestStores stores;
  ASSIGN_OR_RETURN(stores.service, ServiceStore::Open(location));
  ASSIGN_OR_RETURN(stores.people, PeopleStore::Open(location));
  ASSIGN_OR_RETURN(stores.tenants, TenantStore::Open(location));
  ASSIGN_OR_RETURN(stores.audit, AuditStore::Open(location));
  ASSIGN_OR_RETURN(stores.models, ModelStore::Open(location));
  ASSIGN_OR_RETURN(stores.agreements, AgreementStore::Open(location));
  // Tenants have their quotas.
  ASSIGN_OR_RETURN(stores.blobs, OpenLastingBlobs(location, "uploads", options.folder + "/uploads",
                                                  {.most_blob_bytes = options.uploads.most_bytes,
                                                   .most_partial_bytes = options.uploads.most_tenant_bytes}));
  return stores;
}

void HoldToQuotas(const RestStores& stores, JobScheduleOptions& scheduling) {
  TenantStore* const tenants = stores.tenants.get();
  scheduling.on_device_used = [tenants](const std::string& owner, double seconds) {
    CountDeviceSeconds(*tenants, owner, seconds);
  };
  scheduling.device_quota = [tenants](const std::string& owner, double running) {
    return DeviceRefusalOf(*tenants, owner, running);
  };
  scheduling.storage_quota = [tenants, uploads = stores.service.get()](const std::string& owner) {
    return StorageShareOf(*tenants, *uploads, owner);
  };
  scheduling.teaches_cost_model = [tenants](const std::string& tenant) {
    return TeachesCostModel(*tenants, tenant);
  };
}

}  // namespace attune
