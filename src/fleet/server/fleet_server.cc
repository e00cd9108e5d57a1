#include "fleet/server/fleet_server.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/background_loop.h"
#include "base/log.h"
#include "base/metrics_text.h"
#include "base/sql/sql_errors.h"
#include "base/sqlite/active_lock.h"
#include "base/state_file.h"
#include "base/status.h"
#include "fleet/admission/admission.h"
#include "fleet/admission/fleet_authority.h"
#include "fleet/admission/restored_times.h"
#include "fleet/identity/authority_files.h"
#include "fleet/server/enrolment_service.h"
#include "fleet/server/fleet_service.h"
#include "fleet/server/metrics.h"
#include "fleet/server/server_certificates.h"
#include "fleet/store/sql_fleet_store.h"
#include "fleet/wire/channel.h"
#include "fleet/wire/grpc_log.h"
#include "http/health.h"
#include "http/server.h"

namespace attune {
namespace {

constexpr int kMostWatchers = 32;  // connections of programs that ask for metrics and health

constexpr int kMostEnrolmentBytes = 64 << 10;  // bytes of a message from an unknown sender

// The most streams of one connection. A client may have a stream for each of a thousand devices that it waits
// for.
constexpr int kMaxStreams = 2048, kMaxEnrolmentStreams = 16;
// Threads for calls that are answered at once; calls with files have theirs beside them. A call that finds
// none is answered with RESOURCE_EXHAUSTED.
constexpr int kMaxShortCalls = 256, kMaxEnrolments = 64;

constexpr double kTickSeconds = 0.1, kHousekeepingSeconds = 1, kForgettingSeconds = 3600;
constexpr double kMostTickSeconds = 5;  // a server that has not ticked for longer is stuck

// The host of "host:port".
std::string HostOf(const std::string& address) { return address.substr(0, address.rfind(':')); }

// The time that a new connection has for saying who it is.
constexpr int kHandshakeMillis = 10'000;

// The services of one port, and their bounds.
struct Listening {
  std::string address = {};
  std::shared_ptr<grpc::ServerCredentials> credentials = {};
  std::vector<grpc::Service*> services = {};
  int max_message_bytes = 0, max_streams = 0, max_threads = 0;
};

// Starts a server; sets `port` to the one that it listens on.
absl::StatusOr<std::unique_ptr<grpc::Server>> ListenAt(const Listening& listening, int* port) {
  const std::string& address = listening.address;
  grpc::ServerBuilder builder;
  builder.AddListeningPort(address, listening.credentials, port);
  for (grpc::Service* service : listening.services) builder.RegisterService(service);
  builder.SetMaxReceiveMessageSize(listening.max_message_bytes);
  builder.SetResourceQuota(grpc::ResourceQuota().SetMaxThreads(listening.max_threads));
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, listening.max_streams);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMillis);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveMillis);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kKeepaliveMillis / 2);
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeMillis);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  std::unique_ptr<grpc::Server> server = builder.BuildAndStart();
  if (server == nullptr || *port == 0)
    return absl::UnavailableError(absl::StrCat(address, ": cannot listen there; is the port taken?"));
  return server;
}

absl::StatusOr<std::vector<RestoredTime>> RestoredTimesOf(const std::string& folder, FleetSecrets* secrets) {
  if (secrets == nullptr) return ReadRestoredTimes(folder);
  ASSIGN_OR_RETURN(const std::string text, secrets->LoadRestoredTimes());
  return ParseRestoredTimes(text);
}

}  // namespace

struct FleetServer::Parts {
  FleetServerOptions options;
  std::string host;     // by which others reach this machine
  FileDescriptor lock;  // of the folder
  std::optional<SqlLocation> location;
  std::unique_ptr<FleetStore> store;
  std::unique_ptr<BlobStore> blobs;
  std::unique_ptr<Dispatcher> dispatcher;
  std::unique_ptr<Calibrator> calibrator;
  std::unique_ptr<FleetAuthority> authority;
  std::unique_ptr<Admission> admission;
  std::unique_ptr<FileCalls> file_calls;
  std::unique_ptr<EnrolmentService> enrolment_service;
  std::unique_ptr<FleetService> service;
  ServiceForMembers beside;  // empty: there is none
  std::string address, enrolment_address, metrics_address;
  std::unique_ptr<grpc::Server> server, enrolment;
  std::unique_ptr<ServerCertificates> certificates;
  const Stopwatch since_start;
  std::unique_ptr<HttpServer> http;  // null: metrics and health are not told

  std::atomic<bool> is_draining = false;
  Stopwatch since_housekeeping;               // for the timer
  std::optional<Stopwatch> since_forgetting;  // likewise
  BackgroundLoop timer{[this] { return Tick(); }};

  // Lets time pass for the dispatcher, and does what is due. Returns the seconds until the next tick.
  double Tick() {
    ForgetEndedIfDue();
    dispatcher->Tick();
    calibrator->Tick();
    if (since_housekeeping.Seconds() < kHousekeepingSeconds) return kTickSeconds;
    since_housekeeping.Lap();
    file_calls->CancelIdle();
    CloseRefused();
    certificates->RenewIfDue();
    dispatcher->AskToRenew(authority->SignerId());
    return kTickSeconds;
  }

  void ForgetEndedIfDue() {
    if (since_forgetting && since_forgetting->Seconds() < kForgettingSeconds) return;
    since_forgetting.emplace();
    const absl::Status forgotten = admission->ForgetEnded();
    if (!forgotten.ok())
      Log(LogLevel::kWarning, "certificates that have ended stay", "reason", forgotten.message());
  }

  void Close(const MemberRefusal& refusal) {
    dispatcher->Close(refusal);
    if (beside.close) beside.close(refusal);
  }

  // Closes connections by certificates that count no more: TLS does not look at them again.
  void CloseRefused() {
    std::set<std::string> serials;
    Close([&](const CertificateFacts& facts) {
      serials.insert(facts.serial);
      return absl::OkStatus();
    });
    // An operator, or another server, may also revoke in the database while this one runs.
    const auto revoked = store->RevokedAmong(serials);
    Close([&](const CertificateFacts& facts) -> absl::Status {
      if (revoked.ok() && revoked->contains(facts.serial)) return CertificateIsRevoked();
      if (authority->Check(facts).ok()) return absl::OkStatus();
      return absl::UnavailableError("the fleet's authority was replaced; connect with the new certificate");
    });
  }

  absl::Status Readiness() const {
    if (is_draining) return absl::UnavailableError("the server is ending");
    if (dispatcher->Snapshot().seconds_since_tick > kMostTickSeconds)
      return absl::UnavailableError("the server is stuck");
    return store->CheckWritable();
  }

  std::string Metrics() const {
    ServerMetrics metrics = {.dispatcher = dispatcher->Snapshot(),
                             .blob_bytes = blobs->bytes(),
                             .enrolled = enrolment_service->enrolled(),
                             .refused_enrolments = enrolment_service->refused(),
                             .uptime_seconds = since_start.Seconds()};
    metrics.revoked_certificates = store->NumRevoked(SystemClock().WallMillis()).value_or(0);
    ObserveProcess(metrics);
    MetricsText more;
    more.Begin("attune_database_errors_total", "counter", "Times that a database could not do its part.");
    more.Add(static_cast<double>(NumSqlErrors()));
    more.Begin("attune_fleet_file_calls", "gauge", "Blobs and files that are on their way.");
    more.Add(static_cast<double>(file_calls->count()));
    if (beside.add_metrics) beside.add_metrics(more);
    return FormatMetrics(metrics) + more.text();
  }

  HttpRouter Routes() const {
    HttpRouter router;
    router.Add({"GET", "/metrics", [this](const HttpRequest&) {
                  return HttpResponse{.body = Metrics(), .content_type = kMetricsContentType};
                }});
    AddHealthRoutes([this] { return Readiness(); }, router);
    return router;
  }

  void StopHousekeeping() {
    http.reset();
    timer.Stop();
  }

  void Shutdown() {
    StopHousekeeping();
    for (grpc::Server* running : {server.get(), enrolment.get()})
      if (running != nullptr) running->Shutdown(std::chrono::system_clock::now());
    server.reset();
    enrolment.reset();
  }

  ~Parts() { Shutdown(); }
};

FleetServer::FleetServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
FleetServer::~FleetServer() = default;

FleetParts FleetServer::parts() {
  return {.devices = *parts_->dispatcher,
          .blobs = *parts_->blobs,
          .store = *parts_->store,
          .admission = *parts_->admission,
          .file_calls = *parts_->file_calls,
          .location = *parts_->location};
}

void FleetServer::StopHousekeeping() { parts_->StopHousekeeping(); }
void FleetServer::Shutdown() { parts_->Shutdown(); }
void FleetServer::Drain() { parts_->is_draining = true; }

const std::string& FleetServer::address() const { return parts_->address; }
const std::string& FleetServer::enrolment_address() const { return parts_->enrolment_address; }

const std::string& FleetServer::metrics_address() const { return parts_->metrics_address; }

absl::StatusOr<FileDescriptor> LockServerFolder(const std::string& folder) {
  return LockActive(folder + "/fleet.db", "server");
}

absl::StatusOr<std::unique_ptr<FleetServer>> FleetServer::Open(const FleetServerOptions& options) {
  LogGrpcForDebugging();
  RETURN_IF_ERROR(MakeStateFolder(options.folder));
  auto parts = std::make_unique<Parts>();
  parts->options = options;
  parts->host = options.host.empty() ? HostOf(options.listen) : options.host;
  ASSIGN_OR_RETURN(parts->lock, LockServerFolder(options.folder));
  if (parts->lock.get() < 0)
    return absl::FailedPreconditionError(absl::StrCat(options.folder, ": another server has this folder"));
  parts->location = options.location.value_or(SqlLocation(options.folder));
  ASSIGN_OR_RETURN(std::unique_ptr<SqlFleetStore> store, SqlFleetStore::Open(*parts->location));
  FleetSecrets* secrets = parts->location->is_postgres() ? store.get() : nullptr;
  ASSIGN_OR_RETURN(AuthorityFiles authorities,
                   AuthorityFiles::OpenOrCreate(options.folder, SystemClock(), secrets));
  parts->store = std::move(store);
  ASSIGN_OR_RETURN(parts->blobs, BlobStore::Open(options.folder + "/blobs", options.blobs));
  ASSIGN_OR_RETURN(parts->dispatcher, Dispatcher::Create(*parts->store, options.dispatcher));
  parts->calibrator = std::make_unique<Calibrator>(*parts->dispatcher, *parts->store, options.calibrator);
  parts->authority = std::make_unique<FleetAuthority>(std::move(authorities));
  parts->admission = std::make_unique<Admission>(*parts->authority, *parts->store);
  ASSIGN_OR_RETURN(std::vector<RestoredTime> restored, RestoredTimesOf(options.folder, secrets));
  parts->admission->SetRestoredTimes(std::move(restored));
  parts->certificates = std::make_unique<ServerCertificates>(options.folder, parts->host, *parts->admission);
  RETURN_IF_ERROR(parts->certificates->WriteServers());
  parts->file_calls = std::make_unique<FileCalls>(options.file_calls);
  parts->enrolment_service = std::make_unique<EnrolmentService>(*parts->admission);
  parts->service = std::make_unique<FleetService>(*parts->dispatcher, *parts->blobs, *parts->store,
                                                  *parts->admission, *parts->calibrator, *parts->file_calls);
  return std::unique_ptr<FleetServer>(new FleetServer(std::move(parts)));
}

absl::Status FleetServer::Listen(const ServiceForMembers& beside) {
  const FleetServerOptions& options = parts_->options;
  parts_->beside = beside;
  std::vector<grpc::Service*> services = {parts_->service.get()};
  if (beside.service != nullptr) services.push_back(beside.service);
  int port = 0, enrolment_port = 0;
  ASSIGN_OR_RETURN(parts_->server, ListenAt({.address = options.listen,
                                             .credentials = parts_->certificates->ForMembers(),
                                             .services = services,
                                             .max_message_bytes = kMostMessageBytes,
                                             .max_streams = kMaxStreams,
                                             .max_threads = options.file_calls.in_all + kMaxShortCalls},
                                            &port));
  ASSIGN_OR_RETURN(parts_->enrolment, ListenAt({.address = options.enrolment,
                                                .credentials = parts_->certificates->ForEveryone(),
                                                .services = {parts_->enrolment_service.get()},
                                                .max_message_bytes = kMostEnrolmentBytes,
                                                .max_streams = kMaxEnrolmentStreams,
                                                .max_threads = kMaxEnrolments},
                                               &enrolment_port));
  parts_->address = absl::StrCat(parts_->host, ":", port);
  parts_->enrolment_address = absl::StrCat(parts_->host, ":", enrolment_port);
  parts_->admission->SetAddresses(parts_->address, parts_->enrolment_address);
  return parts_->certificates->WriteOperators();
}

absl::Status FleetServer::Begin() {
  const std::string& metrics = parts_->options.metrics;
  if (!metrics.empty()) {
    ASSIGN_OR_RETURN(
        parts_->http,
        HttpServer::Start({.address = metrics, .limits = {.in_all = kMostWatchers}, .threads = 1},
                          parts_->Routes()));
    parts_->metrics_address = parts_->http->address();
  }
  RETURN_IF_ERROR(parts_->timer.Start());
  Log(LogLevel::kInfo, "server is here", "address", parts_->address, "enrolment", parts_->enrolment_address);
  return absl::OkStatus();
}

}  // namespace attune
