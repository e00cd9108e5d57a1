// A program of commands: what `attune` and `attune-server` have in common.
#ifndef ATTUNE_CLI_COMMON_PROGRAM_H_
#define ATTUNE_CLI_COMMON_PROGRAM_H_

#include <functional>
#include <span>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"

namespace attune {

// The work that the parsed command line asks for.
using Action = std::function<absl::Status()>;

// Describes the flags of one subcommand or of several; parsing the command line sets `action`.
using AddCommand = void (*)(CLI::App& app, Action& action);

struct CommandSet {
  const char* name;  // of the program, as people type it
  const char* description;
  std::span<const AddCommand> commands;
};

// Parses the command line, runs the action that it asks for, and returns the exit status: 0 if it is done, 1
// if it could not be done, 2 for a wrong command line. Errors go to stderr.
int RunProgram(const CommandSet& program, int argc, char** argv);

}  // namespace attune

#endif  // ATTUNE_CLI_COMMON_PROGRAM_H_
