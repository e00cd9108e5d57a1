// A program that is started again whenever it ends.
#ifndef ATTUNE_PROCESS_SETUP_SUPERVISED_SERVICE_H_
#define ATTUNE_PROCESS_SETUP_SUPERVISED_SERVICE_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/backoff.h"
#include "base/clock.h"
#include "base/process/companion_process.h"

namespace attune {

inline constexpr uintmax_t kMostLogBytes = uintmax_t{16} << 20;

// A log that has become longer than that is moved to PATH.old, in the place of an earlier one, and starts
// anew. Programs that append to it keep using the file that they have open: it is copied and cut, so that a
// line which is written between the two is lost. Does nothing if that fails, as on a full disk.
void TurnLog(const std::string& path, uintmax_t most_bytes = kMostLogBytes);

struct ServiceProgram {
  std::string name = {};                    // for people
  std::string program = "/proc/self/exe";   // the path
  std::vector<std::string> arguments = {};  // with the program's name
  std::string log = {};                     // all that it prints is appended to this file
  std::vector<int> processors = {};         // that it may use; empty: those of this thread
  // Is called before each start, which waits for the next attempt if it fails.
  std::function<absl::Status()> prepare = {};
};

struct ServiceState {
  std::string name = {};
  pid_t pid = 0;         // 0: it does not run now
  int restarts = 0;      // how often it has ended or could not be started
  std::string end = {};  // how it was the last time; empty if never
  int64_t since_ms = 0;  // when it was started or has ended, since 1970, UTC

  bool operator==(const ServiceState&) const = default;
};

// For the thread that has made it; ends with that (base/process/companion_process.h). Between a start and the
// next lie growing pauses, which are short again once it has run for a minute. The clock must outlive it.
class SupervisedService {
 public:
  explicit SupervisedService(ServiceProgram program, const Clock& clock = SystemClock())
      : program_(std::move(program)), clock_(clock) {
    state_.name = program_.name;
  }

  // Starts it if it does not run and its pause is over, and notices its end.
  void Tick();
  // Asks it to end, and kills it after `grace_seconds`.
  void Stop(double grace_seconds);
  const ServiceState& state() const { return state_; }

 private:
  absl::Status Start();
  void Ended(const std::string& how);

  const ServiceProgram program_;
  const Clock& clock_;
  std::unique_ptr<CompanionProcess> process_;
  ServiceState state_;
  Backoff backoff_;
  double started_ = 0, next_start_ = 0;  // the clock's times
};

}  // namespace attune

#endif  // ATTUNE_PROCESS_SETUP_SUPERVISED_SERVICE_H_
