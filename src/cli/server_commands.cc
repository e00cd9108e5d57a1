#include "cli/server_commands.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/process/sibling_program.h"

namespace attune {
namespace {

constexpr char kServerProgram[] = "attune-server";

struct ServerCommand {
  const char* name;
  const char* help;
};
constexpr ServerCommand kServerCommands[] = {
    {"server", "Serve a fleet: lease its devices to clients and jobs"},
    {"backup", "Write a server's state, while it runs, to an encrypted file"},
    {"restore", "Restore a server's state from a backup, and print a new token"},
    {"up",
     "Set up the service on this machine: a server, an agent and a runner that keep running after the "
     "command"},
    {"down", "End what attune up has started, and remove its state"}};

}  // namespace

void AddServerCommands(CLI::App& app, Action& action) {
  for (const ServerCommand& command : kServerCommands) {
    CLI::App* added = app.add_subcommand(command.name, command.help);
    added->prefix_command();
    added->set_help_flag();
    added->callback([&action, name = command.name] {
      action = [name] {
        return absl::FailedPreconditionError(
            absl::StrCat("attune ", name, ": the program ", kServerProgram,
                         " is neither beside this one nor in PATH; install the package ", kServerProgram));
      };
    });
  }
}

void BecomeServerProgram(int argc, char** argv) {
  if (argc < 2) return;
  const std::string_view word = argv[1];
  if (std::ranges::find(kServerCommands, word, &ServerCommand::name) == std::ranges::end(kServerCommands))
    return;
  if (const std::string program = SiblingProgram(kServerProgram); !program.empty())
    execv(program.c_str(), argv);
}

}  // namespace attune
