// The stages of a tuning job.
#ifndef ATTUNE_TUNE_JOB_STAGE_H_
#define ATTUNE_TUNE_JOB_STAGE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace attune {

enum class StageKind : uint8_t {
  kPrepare,    // layouts, tasks, spaces, records of earlier runs, reference data
  kCalibrate,  // measure the peak rates of the device
  // Repeated until no further gain is expected:
  kSelect,  // choose the next candidates
  kBuild,   // build them
  kCheck,   // check them against the reference
  kTime,    // time them on the device
  kLearn,   // learn from the times
  // The best candidates are measured again:
  kConfirmBuild,  // build candidates of tasks
  kConfirmTime,   // time those of one task against its baseline
  kCompareBuild,  // build the network with and without the best candidates
  kCompareTime,   // time their kernels in the network, between their neighbours
  kLayoutBuild,   // build the network with another layout
  kLayoutTime,    // time it against the current layout
  kNetworkBuild,  // build the baseline network and the tuned one
  kNetworkTime,
  kFinish,  // record how the run ended
};
inline constexpr size_t kNumStageKinds = static_cast<size_t>(StageKind::kFinish) + 1;

// "prepare", …, "confirm_build", …, "finish".
std::string_view Name(StageKind kind);

// Whether the stage needs the device exclusively.
bool NeedsDevice(StageKind kind);

// Whether the stage of this name may wait for the device, exclusively or not.
bool WaitsForDevice(std::string_view name);

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_STAGE_H_
