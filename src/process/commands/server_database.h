// attune server database
#ifndef ATTUNE_PROCESS_COMMANDS_SERVER_DATABASE_H_
#define ATTUNE_PROCESS_COMMANDS_SERVER_DATABASE_H_

#include <functional>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "base/sql/sql_database.h"
#include "cli/common/program.h"

namespace attune {

// `location`: where the command line says that the server's database is.
void AddServerDatabaseCommand(CLI::App& server, const std::function<absl::StatusOr<SqlLocation>()>& location,
                              Action& action);

}  // namespace attune

#endif  // ATTUNE_PROCESS_COMMANDS_SERVER_DATABASE_H_
