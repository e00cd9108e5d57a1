#include "fleet/server/fleet_listeners.h"

#include <chrono>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "fleet/wire/channel.h"

namespace attune {
namespace {

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

}  // namespace attune
