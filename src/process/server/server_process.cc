#include "process/server/server_process.h"

#include <utility>

#include "base/status.h"

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

}  // namespace attune
