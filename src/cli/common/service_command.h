// Commands that run until a signal ends them.
#ifndef ATTUNE_CLI_COMMON_SERVICE_COMMAND_H_
#define ATTUNE_CLI_COMMON_SERVICE_COMMAND_H_

#include <functional>

#include "CLI/CLI.hpp"

namespace attune {

// Logs what happens unless the user has chosen a level, and where a crash was: a service prints nothing else.
void LogToPeople(const CLI::App& command);

// Return on Ctrl-C or SIGTERM; the second calls `step` again and again until then, with `seconds` between.
void AwaitStop();
void RepeatUntilStop(double seconds, const std::function<void()>& step);

}  // namespace attune

#endif  // ATTUNE_CLI_COMMON_SERVICE_COMMAND_H_
