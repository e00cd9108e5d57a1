// Runs another program to its end.
//
// Problem: a program that is asked something may hang, print without end, or leave processes behind that hold
// its output open. Idea: it leads a process group, which is killed as a whole when its time is over; its
// output is read all the time and is bounded; and its end counts, not that of its output. posix_spawn()
// starts it, which is safe whatever threads this process has.
#ifndef ATTUNE_BASE_PROCESS_COMMAND_H_
#define ATTUNE_BASE_PROCESS_COMMAND_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace attune {

struct CommandLimits {
  double seconds = 30;
  size_t output_bytes = size_t{1} << 20;
};

struct CommandStreams {
  std::string input = "/dev/null";  // a file that is its standard input
  bool joins_errors = false;        // its standard error is part of the output, in the order of writing
};

// Runs the program command[0], which is searched in PATH if its name has no slash, with the arguments
// `command` and our environment. No shell sees the arguments. Returns its standard output. Fails
// if it cannot be started (NotFound, ResourceExhausted), if it takes too long (DeadlineExceeded) or prints
// too much (ResourceExhausted), and if it fails itself (Unavailable): with how, and the end of its standard
// error. Errors begin with the program's name, and do not repeat the arguments. Thread safe.
absl::StatusOr<std::string> RunCommand(const std::vector<std::string>& command,
                                       const CommandLimits& limits = {}, const CommandStreams& streams = {});

}  // namespace attune

#endif  // ATTUNE_BASE_PROCESS_COMMAND_H_
