#include "fleet/client/joined_fleet.h"

#include <cstdlib>
#include <utility>

#include "base/status.h"
#include "device/device_key.h"
#include "fleet/client/remote_service.h"
#include "fleet/identity/member_folders.h"

namespace attune {

absl::StatusOr<FleetCredentials> JoinedCredentials() {
  ASSIGN_OR_RETURN(const std::string folder, DefaultCredentialsFolder(getenv));
  absl::StatusOr<FleetCredentials> credentials = LoadCredentials(folder);
  if (absl::IsNotFound(credentials.status())) {
    const absl::StatusOr<std::string> server = DefaultServerFolder();
    absl::StatusOr<FleetCredentials> own =
        server.ok() ? LoadCredentials(OperatorFolder(*server)) : server.status();
    if (own.ok()) credentials = std::move(own);
  }
  return credentials;
}

absl::StatusOr<std::shared_ptr<FleetClient>> JoinedFleet() {
  ASSIGN_OR_RETURN(const FleetCredentials credentials, JoinedCredentials());
  return std::make_shared<FleetClient>(credentials);
}

absl::StatusOr<std::shared_ptr<MeasuringService>> MeasuringOn(const std::string& key,
                                                              const std::string& server) {
  if (IsThisMachine(key)) return nullptr;
  RETURN_IF_ERROR(CheckDeviceKey(key));
  ASSIGN_OR_RETURN(const FleetCredentials credentials, JoinedCredentials());
  if (!server.empty() && server != credentials.server) {
    return InvalidInput(server, ": this user has joined the fleet of ", credentials.server,
                        "; join the other one with attune fleet join, or leave the server out");
  }
  return RemoteMeasuringService::Open(std::make_shared<FleetClient>(credentials), {.key = key});
}

}  // namespace attune
