// The runners of a schedule, wherever they are.
#ifndef ATTUNE_WORK_DRIVER_RUNNERS_H_
#define ATTUNE_WORK_DRIVER_RUNNERS_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "work/driver/runner_messages.h"

namespace attune {

// The runner has ended, and its stage, if it ran one, came to nothing. It is removed.
struct RunnerLost {
  std::string reason;
  bool may_be_jobs_fault = true;  // false: something else has failed, such as a connection
};

struct RunnerEvent {
  int64_t runner = 0;
  std::variant<RunnerReport, RunnerLost> what;
};

// Not thread safe.
class Runners {
 public:
  virtual ~Runners() = default;

  // Starts a runner on the host with this number, or takes an idle one, and returns the runner's number,
  // which is never used again.
  virtual absl::StatusOr<int64_t> Start(int host) = 0;
  // If the runner has ended, an event says so later.
  virtual void Send(int64_t runner, const RunnerCommand& command) = 0;
  // Waits at most this long for events, and returns those that there are.
  virtual std::vector<RunnerEvent> Await(double seconds) = 0;
  // Ends a runner that is not needed any more. No event follows.
  virtual void End(int64_t runner) = 0;
};

}  // namespace attune

#endif  // ATTUNE_WORK_DRIVER_RUNNERS_H_
