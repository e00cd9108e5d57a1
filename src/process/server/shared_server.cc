#include "process/server/shared_server.h"

#include "absl/strings/str_cat.h"
#include "base/log.h"
#include "base/status.h"
#include "base/threads.h"

namespace attune {

absl::StatusOr<std::unique_ptr<ServerProcess>> ServerProcess::Start(const ServerProcessOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<FleetServer> fleet, FleetServer::Open(options.fleet));
  std::unique_ptr<ServerProcess> server(new ServerProcess(std::move(fleet)));
  RETURN_IF_ERROR(server->Make(options));
  RETURN_IF_ERROR(server->fleet_->Listen(server->Runners()));
  RETURN_IF_ERROR(server->jobs_->Begin());
  if (server->rest_ != nullptr) RETURN_IF_ERROR(server->rest_->Begin());
  RETURN_IF_ERROR(server->fleet_->Begin());
  return server;
}

ServerProcess::~ServerProcess() {
  fleet_->StopHousekeeping();
  if (rest_ != nullptr) rest_->Stop();
  if (jobs_ != nullptr) jobs_->Stop();
  fleet_->Shutdown();
}

absl::Status ServerProcess::Make(const ServerProcessOptions& options) {
  const FleetParts parts = fleet_->parts();
  JobScheduleOptions scheduling = options.jobs;
  if (!options.rest.address.empty()) {
    ASSIGN_OR_RETURN(stores_, RestStores::Open(parts.location, options.rest));
    HoldToQuotas(*stores_, scheduling);
  }
  ASSIGN_OR_RETURN(jobs_, MakeJobServer(scheduling, parts));
  if (stores_.has_value()) rest_ = std::make_unique<RestServer>(options.rest, *jobs_, *stores_, parts);
  return absl::OkStatus();
}

ServiceForMembers ServerProcess::Runners() {
  return {.service = &jobs_->service(),
          .add_metrics =
              [this](MetricsText& text) {
                jobs_->AddMetrics(text);
                if (rest_ != nullptr) rest_->AddMetrics(text);
              },
          .close = [this](const MemberRefusal& refusal) { jobs_->Close(refusal); }};
}

void ServerProcess::Drain() {
  fleet_->Drain();
  if (rest_ != nullptr) rest_->Drain();
}

absl::StatusOr<std::unique_ptr<SharedServer>> SharedServer::Start(const SharedServerOptions& options) {
  std::unique_ptr<SharedServer> server(new SharedServer(options));
  ASSIGN_OR_RETURN(server->lease_, ServerLease::Open(*options.server.fleet.location, options.lease));
  RETURN_IF_ERROR(server->Forward());
  if (!StartThread(server->thread_, [self = server.get()] { self->Run(); }))
    return absl::ResourceExhaustedError("the system has no more threads");
  return server;
}

SharedServer::~SharedServer() {
  if (lease_ != nullptr) lease_->Wake();
  if (thread_.joinable()) thread_.join();
}

void SharedServer::Run() {
  while (lease_->AwaitHeld()) {
    if (const absl::Status served = Serve(); !served.ok())
      Log(LogLevel::kError, "this server cannot serve the fleet; another one may", "reason",
          served.message());
    lease_->GiveUp();
    if (const absl::Status forwards = Forward(); !forwards.ok())
      Log(LogLevel::kError, "REST is not answered meanwhile", "reason", forwards.message());
  }
}

absl::Status SharedServer::Forward() {
  RestServerOptions& rest = options_.server.rest;
  if (rest.address.empty() || forwarder_ != nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(forwarder_, Forwarder::Start({.address = rest.address,
                                                 .target = [this] { return lease_->Leader(); },
                                                 .is_plain = !rest.tls,
                                                 .limits = rest.connections}));
  // The port stays the same for each server that serves.
  rest.address = forwarder_->address();
  if (rest.on_listening) rest.on_listening(forwarder_->address());
  return absl::OkStatus();
}

absl::Status SharedServer::Serve() {
  ServerProcessOptions serving = options_.server;
  serving.fleet.location = serving.fleet.location->Fenced(lease_->Fence());
  serving.rest.before_listening = [this] { forwarder_.reset(); };
  serving.rest.on_listening = [this](const std::string& address) {
    lease_->Announce(AddressForOthers(address));
  };
  ASSIGN_OR_RETURN(const std::unique_ptr<ServerProcess> server, ServerProcess::Start(serving));
  if (options_.on_serving) RETURN_IF_ERROR(options_.on_serving(server->fleet()));
  SetServing(server.get());
  lease_->AwaitLost();
  SetServing(nullptr);
  return absl::OkStatus();
}

void SharedServer::SetServing(ServerProcess* server) {
  const std::lock_guard<std::mutex> lock(mutex_);
  serving_ = server;
}

bool SharedServer::Drain() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (serving_ == nullptr) return false;
  serving_->Drain();
  return true;
}

std::string SharedServer::AddressForOthers(const std::string& address) const {
  const size_t colon = address.rfind(':');
  const std::string host = address.substr(0, colon);
  const bool is_everywhere = host == "0.0.0.0" || host == "[::]";
  return is_everywhere ? absl::StrCat(options_.machine, address.substr(colon)) : address;
}

}  // namespace attune
