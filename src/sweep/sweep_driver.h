// Runs what is left of a sweep, one run after the other.
#ifndef ATTUNE_SWEEP_SWEEP_DRIVER_H_
#define ATTUNE_SWEEP_SWEEP_DRIVER_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/cancel.h"
#include "sweep/command_options.h"
#include "sweep/sweep_folder.h"
#include "sweep/sweep_result.h"

namespace attune {

// Runs the program; a test has one of its own.
class SweepProgram {
 public:
  virtual ~SweepProgram() = default;
  // Runs it with these arguments to its end, and appends what it prints to the file `log`. Cancelled if
  // `cancellation` is. The error says in one line why it has failed.
  virtual absl::Status Run(const std::vector<std::string>& arguments, const std::string& log,
                           const Cancellation& cancellation) = 0;
};

// Hears of the progress of a sweep.
class SweepObserver {
 public:
  virtual ~SweepObserver() = default;
  virtual void OnCommand(size_t run, const std::string& command) = 0;  // begins
  virtual void OnRunEnd(size_t run, const SweepResult& result) = 0;
};

// The arguments of a command of a run, without the program. `base`: the folder that a relative path of a
// model starts from.
std::vector<std::string> SweepArguments(const SweepFolder& folder, const UsedOptions& used,
                                        const SweepRun& run, size_t command, const std::string& base);

class SweepDriver {
 public:
  // All arguments must outlive it. Reads what is there of each run. `retries_failed`: runs that have failed
  // count as unfinished, but for the commands of theirs that are done.
  SweepDriver(const SweepFolder& folder, const UsedOptions& used, std::string base, bool retries_failed);

  const std::vector<SweepResult>& results() const { return results_; }
  size_t NumUnfinished() const;
  size_t NumFailed() const;

  // Runs all that is unfinished, and writes the table of results after each run. A run that fails stops no
  // other one. Fails if it is cancelled, or if the folder cannot be written.
  absl::Status Run(SweepProgram& program, SweepObserver& observer, const Cancellation& cancellation);

 private:
  // Runs the commands of one run that are not done.
  absl::Status RunOne(size_t index, SweepProgram& program, SweepObserver& observer,
                      const Cancellation& cancellation);
  absl::Status WriteTable() const;

  const SweepFolder& folder_;
  const UsedOptions& used_;
  const std::string base_;
  const bool retries_failed_;
  std::vector<SweepResult> results_;
};

}  // namespace attune

#endif  // ATTUNE_SWEEP_SWEEP_DRIVER_H_
