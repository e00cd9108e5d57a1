// The commands to a runner, and its reports, as messages (runner.proto). Decoding is safe for any bytes: the
// values are in range, and their memory is bounded by the message's size.
#ifndef ATTUNE_WORK_DRIVER_RUNNER_MESSAGES_H_
#define ATTUNE_WORK_DRIVER_RUNNER_MESSAGES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/job.h"
#include "device/placement.h"
#include "work/job/job_spec.h"

namespace attune {

// Increases with each change that the other side would misunderstand.
inline constexpr uint32_t kRunnerVersion = 3;

// The lease of the granted processors (device/lease.h) that a runner takes while a stage runs, so that
// programs outside of the schedule neither disturb it nor are disturbed.
enum class StageLease : uint8_t {
  kNone,
  kShared,     // others may compute there, but not measure
  kExclusive,  // no other stage may use them
};

// The runner's job. The first stage that it then runs is to open the job.
struct AssignJob {
  JobSpec spec;    // id, kind, settings and base alone
  JobPlace place;  // without a service
};
struct RunStage {
  std::vector<int> processors;  // of the machine; empty: any
  StageLease lease = StageLease::kNone;
  Isolation isolation = Isolation::kNone;  // of an exclusive lease
};
struct CancelStage {};
using RunnerCommand = std::variant<AssignJob, RunStage, CancelStage>;

// The first report of each runner.
struct RunnerRegistered {
  std::vector<std::string> kinds;  // of jobs, that it can run
};
struct RunnerStageEnded {
  absl::Status status;           // after an error, the runner is of no more use
  double seconds = 0;            // that the stage took, without the wait for its lease
  std::optional<JobStage> next;  // nothing: the job is done
  double remaining = 0;          // Job::RemainingSeconds()
  std::string progress;          // Job::Progress()
  std::string result;            // Job::Result(), if the job is done
  std::string figures;           // Job::Figures()
  // All files that the job now has, if they are kept elsewhere; no part of the message.
  std::optional<std::vector<JobFile>> files = {};
};
using RunnerReport = std::variant<RunnerRegistered, RunnerStageEnded>;

std::string Encode(const RunnerCommand& command);
absl::StatusOr<RunnerCommand> DecodeRunnerCommand(std::string_view message);
std::string Encode(const RunnerReport& report);
absl::StatusOr<RunnerReport> DecodeRunnerReport(std::string_view message);

}  // namespace attune

#endif  // ATTUNE_WORK_DRIVER_RUNNER_MESSAGES_H_
