#include "cli/server_commands.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/process/sibling_program.h"
#include "cli/common/server_commands.h"

namespace attune {
namespace {

constexpr char kServerProgram[] = "attune-server";

// The first word of a command line that is neither a flag nor the value of --log-level, the one flag that may
// stand before a command; empty if there is none.
std::string_view CommandOf(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (!word.starts_with("-")) return word;
    if (word == "--log-level") ++i;
  }
  return "";
}

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
                         " is neither beside this one nor in PATH; install the package ", kServerProgram,
                         ", or unpack the tar archive, which has it"));
      };
    });
  }
}

void BecomeServerProgram(int argc, char** argv) {
  const std::string_view word = CommandOf(argc, argv);
  if (std::ranges::find(kServerCommands, word, &ServerCommand::name) == std::ranges::end(kServerCommands))
    return;
  if (const std::string program = SiblingProgram(kServerProgram); !program.empty())
    execv(program.c_str(), argv);
}

}  // namespace attune
