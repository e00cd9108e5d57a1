#include "fleet/client/joined_fleet.h"

#include <cstdlib>
#include <utility>

#include "base/status.h"
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

absl::StatusOr<std::shared_ptr<MeasuringService>> MeasuringOn(const std::string& key) {
  ASSIGN_OR_RETURN(std::shared_ptr<FleetClient> fleet, JoinedFleet());
  return RemoteMeasuringService::Open(std::move(fleet), {.key = key});
}

}  // namespace attune
