// attune server audit verify
#ifndef ATTUNE_CLI_SERVER_AUDIT_H_
#define ATTUNE_CLI_SERVER_AUDIT_H_

#include <functional>
#include <string>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "cli/command.h"

namespace attune {

// Adds the subcommand to `server`. `folder` is that of the server's state.
void AddServerAuditCommand(CLI::App& server, const std::function<absl::StatusOr<std::string>()>& folder,
                           Action& action);

}  // namespace attune

#endif  // ATTUNE_CLI_SERVER_AUDIT_H_
