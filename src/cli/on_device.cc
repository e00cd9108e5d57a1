#include "cli/on_device.h"

#include <cstdlib>

#include "base/status.h"
#include "cli/fleet_folders.h"
#include "fleet/client/remote_service.h"
#include "fleet/server/fleet_server.h"

namespace attune {

void AddOnFlag(CLI::App& command, std::string& key) {
  command
      .add_option("--on", key,
                  "measure on a device of the fleet that has this key (default: this machine); attune fleet "
                  "list shows the keys")
      ->type_name("KEY");
}

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
