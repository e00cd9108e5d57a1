#include "service/runner/elsewhere.h"

#include "absl/strings/numbers.h"
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

int MeasuringPort(const std::string& credentials) {
  const absl::StatusOr<FleetCredentials> own = ParseCredentials(credentials);
  int port = 0;
  if (!own.ok() || !absl::SimpleAtoi(own->server.substr(own->server.rfind(':') + 1), &port)) return 0;
  return port;
}

}  // namespace attune
