#include "service/runner/elsewhere.h"

#include "base/status.h"
#include "fleet/client/fleet_client.h"
#include "fleet/client/remote_service.h"
#include "fleet/identity/credentials.h"

namespace attune {

absl::StatusOr<std::shared_ptr<MeasuringService>> MeasureElsewhere(const std::string& key,
                                                                   const std::string& credentials) {
  ASSIGN_OR_RETURN(const FleetCredentials own, ParseCredentials(credentials));
  return RemoteMeasuringService::Open(std::make_shared<FleetClient>(own), {.key = key});
}

}  // namespace attune
