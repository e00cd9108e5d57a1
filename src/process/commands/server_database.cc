#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "cli/common/output.h"
#include "process/commands/server_command.h"
#include "process/server/server_schemas.h"

namespace attune {
namespace {

struct ServerDatabaseFlags {
  std::string store = {};
  int64_t to = -1;
};

absl::Status Show(const DatabaseOfServer& where) {
  ASSIGN_OR_RETURN(const SqlLocation location, where());
  ASSIGN_OR_RETURN(const std::vector<StoreVersion> versions, StoreVersions(location));
  std::string text = absl::StrFormat("%-10s %8s %8s\n", "store", "version", "latest");
  for (const StoreVersion& version : versions)
    absl::StrAppendFormat(&text, "%-10s %8d %8d\n", version.store, version.version, version.latest);
  PrintResult(text);
  return FlushOutput();
}

absl::Status Migrate(const DatabaseOfServer& where, const ServerDatabaseFlags& flags) {
  ASSIGN_OR_RETURN(const SqlLocation location, where());
  RETURN_IF_ERROR(MigrateStores(location, flags.store, flags.to));
  return Show(where);
}

}  // namespace

void AddServerDatabaseCommand(CLI::App& server, const DatabaseOfServer& location, Action& action) {
  CLI::App* command = server.add_subcommand("database", "Show or change the versions of a server's tables");
  command->fallthrough();  // --state, --database
  command->require_subcommand(1);
  CLI::App* show = command->add_subcommand("show", "Print the version of each store's tables");
  show->fallthrough();
  show->callback([location, &action] { action = [location] { return Show(location); }; });
  CLI::App* migrate =
      command->add_subcommand("migrate", "Bring tables to a version; refused while a server uses them");
  migrate->fallthrough();
  const auto flags = std::make_shared<ServerDatabaseFlags>();
  CLI::Option* store =
      migrate->add_option("--store", flags->store, "only the tables of this store (default: of all)");
  migrate->add_option("--to", flags->to, "the version, which may be an older one (default: the latest)")
      ->check(CLI::NonNegativeNumber)
      ->needs(store);
  migrate->callback(
      [location, flags, &action] { action = [location, flags] { return Migrate(location, *flags); }; });
}

}  // namespace attune
