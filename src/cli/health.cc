// attune health server|agent|runner
#include "fleet/client/health.h"

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/common/output.h"
#include "fleet/identity/member_folders.h"

namespace attune {
namespace {

absl::Status PrintHealth(const absl::StatusOr<std::string>& health) {
  if (health.ok()) PrintResult(absl::StrCat(*health, "\n"));
  return health.status();
}

absl::Status OfAgent(std::string folder) {
  if (folder.empty()) {
    ASSIGN_OR_RETURN(folder, DefaultAgentFolder());
  }
  return PrintHealth(AgentHealth(folder));
}

}  // namespace

void AddHealthCommand(CLI::App& app, Action& action) {
  CLI::App* health = app.add_subcommand(
      "health", "Say in one line whether a service on this machine works: exit status 0, else 1");
  health->require_subcommand(1);

  CLI::App* server = health->add_subcommand("server", "Ask a server that runs with --metrics if it is ready");
  const auto address = std::make_shared<std::string>("127.0.0.1:9192");
  server->add_option("--metrics", *address, "the same address as that server's (default: 127.0.0.1:9192)")
      ->type_name("ADDRESS");
  server->callback(
      [address, &action] { action = [address] { return PrintHealth(ServerHealth(*address)); }; });

  CLI::App* runner = health->add_subcommand("runner", "Ask the same server whether a runner is connected");
  runner->add_option("--metrics", *address, "the address of that server's metrics (default: 127.0.0.1:9192)")
      ->type_name("ADDRESS");
  runner->callback(
      [address, &action] { action = [address] { return PrintHealth(RunnerHealth(*address)); }; });

  CLI::App* agent =
      health->add_subcommand("agent", "Ask the fleet's server whether this machine's agent is connected");
  const auto folder = std::make_shared<std::string>();
  agent->add_option("--state", *folder, "the folder of the agent's state (default: as for attune agent)");
  agent->callback([folder, &action] { action = [folder] { return OfAgent(*folder); }; });
}

}  // namespace attune
