// attune server audit verify
#ifndef ATTUNE_PROCESS_COMMANDS_SERVER_AUDIT_H_
#define ATTUNE_PROCESS_COMMANDS_SERVER_AUDIT_H_

#include <functional>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "base/sql/sql_database.h"
#include "cli/common/program.h"

namespace attune {

// Adds the subcommand to `server`. `where`: where the command line says that the server's database is.
void AddServerAuditCommand(CLI::App& server, const std::function<absl::StatusOr<SqlLocation>()>& where,
                           Action& action);

}  // namespace attune

#endif  // ATTUNE_PROCESS_COMMANDS_SERVER_AUDIT_H_
