// The programs of an installation.
#ifndef ATTUNE_PROCESS_SETUP_SERVICES_H_
#define ATTUNE_PROCESS_SETUP_SERVICES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "fleet/client/fleet_client.h"
#include "process/setup/installation.h"
#include "process/setup/supervised_service.h"

namespace attune {

// The server, and the others, which need it.
ServiceProgram ServerProgram(const Installation& installation);
std::vector<ServiceProgram> MemberPrograms(const Installation& installation);

// The flags of `attune agent` that say whose work it takes, and what its device can be asked for by.
std::vector<std::string> AgentFlags(const Installation& installation);

// Unavailable if a certificate of the installation counts only later: then no connection works, however long
// one waits, until this machine's clock is right.
absl::Status CheckClock(const Installation& installation, const Clock& clock = SystemClock());
// Forgets the server's devices with the key that are away and of another kind than this machine: it takes
// their place, since their state was restored here, and would be refused beside them.
absl::Status ForgetReplaced(FleetClient& fleet, const std::string& key, const std::string& fingerprint);

// One line about a service, by its name, or the reason why it does not work.
absl::StatusOr<std::string> ServiceHealth(const Installation& installation, const std::string& name);

}  // namespace attune

#endif  // ATTUNE_PROCESS_SETUP_SERVICES_H_
