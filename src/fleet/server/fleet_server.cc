#include "fleet/server/fleet_server.h"

#include <grpcpp/grpcpp.h>

#include <chrono>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"
#include "fleet/server/enrolment_service.h"
#include "fleet/server/fleet_housekeeping.h"
#include "fleet/server/fleet_monitor.h"
#include "fleet/server/fleet_server_state.h"
#include "fleet/server/fleet_service.h"
#include "fleet/server/server_certificates.h"
#include "fleet/wire/channel.h"

namespace attune {

// The two ports of a fleet's server, with their services: one for members, and one for those who enrol.
//
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

namespace {

// The host of "host:port".
std::string HostOf(const std::string& address) { return address.substr(0, address.rfind(':')); }

constexpr int kMostEnrolmentBytes = 64 << 10;  // bytes of a message from an unknown sender

// The most streams of one connection. A client may have a stream for each of a thousand devices that it waits
// for.
constexpr int kMaxStreams = 2048, kMaxEnrolmentStreams = 16;
// Threads for calls that are answered at once; calls with files have theirs beside them. A call that finds
// none is answered with RESOURCE_EXHAUSTED.
constexpr int kMaxShortCalls = 256, kMaxEnrolments = 64;

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

}  // namespace

FleetListeners::FleetListeners(FleetServerState& state)
    : state_(state),
      service_(*state.dispatcher, *state.blobs, *state.store, *state.admission, *state.calibrator,
               *state.file_calls),
      enrolment_service_(*state.admission) {}

absl::Status FleetListeners::Listen(const FleetServerOptions& options, const ServerCertificates& certificates,
                                    grpc::Service* beside) {
  std::vector<grpc::Service*> services = {&service_};
  if (beside != nullptr) services.push_back(beside);
  int port = 0, enrolment_port = 0;
  ASSIGN_OR_RETURN(server_, ListenAt({.address = options.listen,
                                      .credentials = certificates.ForMembers(),
                                      .services = services,
                                      .max_message_bytes = kMostMessageBytes,
                                      .max_streams = kMaxStreams,
                                      .max_threads = options.file_calls.in_all + kMaxShortCalls},
                                     &port));
  ASSIGN_OR_RETURN(enrolment_, ListenAt({.address = options.enrolment,
                                         .credentials = certificates.ForEveryone(),
                                         .services = {&enrolment_service_},
                                         .max_message_bytes = kMostEnrolmentBytes,
                                         .max_streams = kMaxEnrolmentStreams,
                                         .max_threads = kMaxEnrolments},
                                        &enrolment_port));
  address_ = absl::StrCat(options.host, ":", port);
  enrolment_address_ = absl::StrCat(options.host, ":", enrolment_port);
  state_.admission->SetAddresses(address_, enrolment_address_);
  return absl::OkStatus();
}

void FleetListeners::Shutdown() {
  for (grpc::Server* running : {server_.get(), enrolment_.get()})
    if (running != nullptr) running->Shutdown(std::chrono::system_clock::now());
  server_.reset();
  enrolment_.reset();
}

// Each part uses those before it alone, and ends before them.
struct FleetServer::Parts {
  Parts(FleetServerOptions resolved, std::unique_ptr<FleetServerState> opened)
      : options(std::move(resolved)),
        state(std::move(opened)),
        certificates(options.folder, options.host, *state->admission),
        listeners(*state),
        monitor(*state, listeners.enrolment(), beside),
        housekeeping(*state, certificates, beside) {}
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts() { Shutdown(); }

  void StopHousekeeping() {
    monitor.Stop();
    housekeeping.Stop();
  }
  void Shutdown() {
    StopHousekeeping();
    listeners.Shutdown();
  }

  const FleetServerOptions options;  // whose host is that by which others reach this machine
  ServiceForMembers beside = {};     // empty: there is none
  const std::unique_ptr<FleetServerState> state;
  ServerCertificates certificates;
  FleetListeners listeners;
  FleetMonitor monitor;
  FleetHousekeeping housekeeping;
};

FleetServer::FleetServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
FleetServer::~FleetServer() = default;

FleetParts FleetServer::parts() {
  const FleetServerState& state = *parts_->state;
  return {.devices = *state.dispatcher,
          .blobs = *state.blobs,
          .store = *state.store,
          .admission = *state.admission,
          .file_calls = *state.file_calls,
          .location = state.location};
}

void FleetServer::StopHousekeeping() { parts_->StopHousekeeping(); }
void FleetServer::Shutdown() { parts_->Shutdown(); }
void FleetServer::Drain() { parts_->monitor.Drain(); }

const std::string& FleetServer::address() const { return parts_->listeners.address(); }
const std::string& FleetServer::enrolment_address() const { return parts_->listeners.enrolment_address(); }
const std::string& FleetServer::metrics_address() const { return parts_->monitor.address(); }

absl::StatusOr<std::unique_ptr<FleetServer>> FleetServer::Open(const FleetServerOptions& options) {
  LogGrpcForDebugging();
  FleetServerOptions resolved = options;
  if (resolved.host.empty()) resolved.host = HostOf(options.listen);
  ASSIGN_OR_RETURN(std::unique_ptr<FleetServerState> state, FleetServerState::Open(resolved));
  auto parts = std::make_unique<Parts>(std::move(resolved), std::move(state));
  RETURN_IF_ERROR(parts->certificates.WriteServers());
  return std::unique_ptr<FleetServer>(new FleetServer(std::move(parts)));
}

absl::Status FleetServer::Listen(const ServiceForMembers& beside) {
  parts_->beside = beside;
  RETURN_IF_ERROR(parts_->listeners.Listen(parts_->options, parts_->certificates, beside.service));
  return parts_->certificates.WriteOperators();
}

absl::Status FleetServer::Begin() {
  const std::string& metrics = parts_->options.metrics;
  if (!metrics.empty()) RETURN_IF_ERROR(parts_->monitor.Begin(metrics));
  RETURN_IF_ERROR(parts_->housekeeping.Begin());
  Log(LogLevel::kInfo, "server is here", "address", address(), "enrolment", enrolment_address());
  return absl::OkStatus();
}

}  // namespace attune
