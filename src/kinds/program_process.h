// A program that a job talks to by lines on its standard input and output.
//
// Problem: the program is anybody's. It may hang, end at any moment, start processes of its own, or print
// without end; and neither it nor what it has started may outlive the process that started it. Idea: a guard
// (base/process/program_guard.h) ends all of it as a whole; all waiting is by poll(), which an event of the
// caller ends; and what it prints to standard error is read all the time, and its end is kept. The kernel
// ends the guard when the thread that has started it ends, so that a thread of its own does that, and stays
// until the program has ended.
#ifndef ATTUNE_KINDS_PROGRAM_PROCESS_H_
#define ATTUNE_KINDS_PROGRAM_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/file_descriptor.h"
#include "base/process/message.h"
#include "base/process/pipe.h"
#include "base/process/program_guard.h"

namespace attune {

// Not thread safe. No error names the program.
class ProgramProcess {
 public:
  // Starts the program command[0] with the arguments `command`, in `folder`; if that is empty, where this
  // process runs. A name without a slash is searched in PATH, another one starts from `folder`. The program
  // has our environment. Fails if it cannot be started.
  static absl::StatusOr<std::unique_ptr<ProgramProcess>> Start(
      const std::vector<std::string>& command, const std::string& folder,
      ProgramContainment containment = ProgramContainment::kBest);
  ProgramProcess(const ProgramProcess&) = delete;
  ProgramProcess& operator=(const ProgramProcess&) = delete;
  // Closes the program's standard input, gives it two seconds to end, and kills what is left of it.
  ~ProgramProcess();

  // Fails with DeadlineExceeded if the program does not read. ReadLine() reports its end.
  absl::Status Send(std::string_view text, Deadline deadline);

  // The next line of its standard output, without the newline. Nothing if the deadline has passed or the
  // descriptor `wake` can be read; -1: there is none. Fails if the program has ended (Unavailable), saying
  // how and what it has printed to standard error, or if a line is too long (InvalidArgument, with its
  // beginning).
  absl::StatusOr<std::optional<std::string>> ReadLine(Deadline deadline, int wake = -1);

  // From now on, the program and its processes run on these processors; empty: where they did at first. Has
  // no effect where the system does not allow it.
  void RunOn(std::span<const int> processors);

  // Kills the program and all that it has started. Its end is reported as any other.
  void Kill();

 private:
  ProgramProcess() = default;

  // Starts the thread that starts the program and waits for its end.
  absl::Status StartKeeper(const std::string& program, std::vector<std::string> arguments,
                           const std::string& folder, ProgramContainment containment);
  // Keeps the end of what has been printed to standard error. Returns false if there was nothing to read.
  bool ReadErrors();
  // Takes a complete line from what has been read.
  absl::StatusOr<std::optional<std::string>> TakeLine();
  // Closes the program's standard input, waits for its end, kills after `grace_seconds` what is left of it,
  // and says how it ended.
  absl::Status End(double grace_seconds);

  FileDescriptor input_, output_, errors_;
  FileDescriptor ended_;  // can be read once the program has ended
  std::string output_text_;
  PrintedErrors printed_;
  pid_t pid_ = -1;  // of the guard
  std::thread keeper_;
  std::vector<int> first_processors_;
  absl::Status end_;  // once it has ended: how
};

}  // namespace attune

#endif  // ATTUNE_KINDS_PROGRAM_PROCESS_H_
