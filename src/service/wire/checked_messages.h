// Checks what runners say to a server that runs jobs, as fleet/wire/checked_messages.h does for a fleet.
//
// Results of a job may be anything, and their faults are the job's: its texts for people are cut, and results
// that are too large or not JSON fail the job. All else is the runner's, who is told which bound it has
// broken (InvalidArgument), and loses its stream.
#ifndef ATTUNE_SERVICE_WIRE_CHECKED_MESSAGES_H_
#define ATTUNE_SERVICE_WIRE_CHECKED_MESSAGES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "device/device.h"
#include "service/wire/jobs.pb.h"
#include "work/driver/runner_messages.h"
#include "work/job/job_spec.h"

namespace attune {

inline constexpr int kMaxProgramsOfRunner = 4096;
inline constexpr size_t kMaxProgramNameBytes = 256;
inline constexpr int64_t kMaxRunnerMemoryBytes = int64_t{1} << 50;  // sums of them do not overflow
// The most for a text for people, and for a result or figures in JSON.
inline constexpr size_t kMaxTextBytes = size_t{16} << 10;
inline constexpr size_t kMaxResultBytes = size_t{1} << 20;
inline constexpr size_t kMaxFiguresBytes = size_t{1} << 20;

// A machine that offers itself.
struct RunnerOffer {
  DeviceInfo device;  // with a processor at least
  int64_t memory_bytes = 0;
  std::vector<std::string> programs;
  bool confines = false;  // it keeps jobs from each other's files
};
// FailedPrecondition if the runner speaks another version.
absl::StatusOr<RunnerOffer> CheckedHello(const jobs_service_proto::RunnerHello& hello);

// The report of a stage. All texts in it are printable, and those for people are cut.
absl::StatusOr<RunnerStageEnded> CheckedReport(const jobs_service_proto::RunnerReported& reported);
// Whether what a job has made may be kept. It is the job's fault if not.
absl::Status CheckMade(const RunnerStageEnded& ended);
std::string CheckedReason(const jobs_service_proto::RunnerProcessLost& lost);

// The first piece of a file, which has its name and digest.
absl::Status CheckFirstPiece(const jobs_service_proto::FilePiece& piece);
absl::Status CheckPiece(const jobs_service_proto::FilePiece& piece);

// Increases with each change that the other side would misunderstand.
inline constexpr uint32_t kJobsVersion = 3;

}  // namespace attune

#endif  // ATTUNE_SERVICE_WIRE_CHECKED_MESSAGES_H_
