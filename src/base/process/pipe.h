// The output of other programs.
#ifndef ATTUNE_BASE_PROCESS_PIPE_H_
#define ATTUNE_BASE_PROCESS_PIPE_H_

#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "base/file_descriptor.h"

namespace attune {

// A pipe from a program. Programs that are started do not inherit its ends unless they are passed on.
struct OutputPipe {
  FileDescriptor ours;    // reading from it never waits
  FileDescriptor theirs;  // for the program to write to
};
// ResourceExhausted if this process can open no more files.
absl::StatusOr<OutputPipe> OpenOutputPipe();

// Waits this many seconds until something can be read from the file, or it has ended. False if neither
// happens.
bool CanRead(int file, double seconds);

// Returns what can be read now: empty at the end of the file, and nothing if there is nothing yet.
std::optional<std::string> ReadSome(int file);

// "exit status 3" or "signal 9 (Killed)", for a status of waitpid().
std::string DescribeWait(int wait_status);

// The end of what a program has printed to standard error.
class PrintedErrors {
 public:
  void Add(const std::string& text);
  // "; it printed: …" on one line that is safe to show; empty if it has printed nothing.
  std::string Suffix() const;

 private:
  std::string text_;
};

}  // namespace attune

#endif  // ATTUNE_BASE_PROCESS_PIPE_H_
