// Runs this program's own commands as processes, for a sweep.
#ifndef ATTUNE_SWEEP_OWN_PROGRAM_H_
#define ATTUNE_SWEEP_OWN_PROGRAM_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/cancel.h"
#include "sweep/sweep_driver.h"

namespace attune {

// This program, for the process itself and for those that it starts, also if its file is replaced meanwhile.
inline constexpr char kOwnProgram[] = "/proc/self/exe";

// The calling thread starts the processes. None outlives it.
class OwnProgram final : public SweepProgram {
 public:
  // Relative paths in arguments start from the folder `base`. `most_seconds`: for one command; 0: any.
  OwnProgram(std::string base, double most_seconds) : base_(std::move(base)), most_seconds_(most_seconds) {}

  // A command that is cancelled, or takes too long, is killed: so attune tune can resume its run later.
  absl::Status Run(const std::vector<std::string>& arguments, const std::string& log,
                   const Cancellation& cancellation) override;

 private:
  const std::string base_;
  const double most_seconds_;
};

// Why a program has failed, by what it has printed: its last error, else its last line; on one line that is
// safe to show.
std::string LastError(std::string_view printed);
// The same for the text of a log from `offset` on.
std::string LastErrorOfLog(const std::string& log, int64_t offset);

}  // namespace attune

#endif  // ATTUNE_SWEEP_OWN_PROGRAM_H_
