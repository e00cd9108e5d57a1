#include "fleet/server/fleet_server.h"

#include <utility>

#include "base/log.h"
#include "base/status.h"
#include "fleet/server/fleet_housekeeping.h"
#include "fleet/server/fleet_listeners.h"
#include "fleet/server/fleet_monitor.h"
#include "fleet/server/fleet_server_state.h"
#include "fleet/server/server_certificates.h"
#include "fleet/wire/grpc_log.h"

namespace attune {
namespace {

// The host of "host:port".
std::string HostOf(const std::string& address) { return address.substr(0, address.rfind(':')); }

}  // namespace

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
