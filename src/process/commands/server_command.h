// The subcommands of attune server.
#ifndef ATTUNE_PROCESS_COMMANDS_SERVER_COMMAND_H_
#define ATTUNE_PROCESS_COMMANDS_SERVER_COMMAND_H_

#include <functional>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "base/sql/sql_database.h"
#include "cli/common/program.h"

namespace attune {

// Returns the place of the server's database, as the command line names it.
using DatabaseOfServer = std::function<absl::StatusOr<SqlLocation>()>;

// attune server database
void AddServerDatabaseCommand(CLI::App& server, const DatabaseOfServer& location, Action& action);
// attune server audit verify
void AddServerAuditCommand(CLI::App& server, const DatabaseOfServer& where, Action& action);

}  // namespace attune

#endif  // ATTUNE_PROCESS_COMMANDS_SERVER_COMMAND_H_
