// The stages of a tuning job.
#ifndef ATTUNE_TUNE_JOB_STAGE_H_
#define ATTUNE_TUNE_JOB_STAGE_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace attune {

enum class StageKind : uint8_t {
  kPrepare,    // layouts, tasks, spaces, records of earlier runs, reference data
  kCalibrate,  // what the device does at best
  // Until nothing more is hoped for:
  kSelect,  // which candidates of which tasks come next
  kBuild,   // their code
  kCheck,   // against the reference
  kTime,    // on the device
  kLearn,   // from the times
  // What is best is measured again:
  kConfirmBuild,  // candidates of tasks
  kConfirmTime,   // those of one task against its baseline
  kCompareBuild,  // the network with the best, and without
  kCompareTime,   // their kernels, between their neighbours
  kLayoutBuild,   // the network with another layout
  kLayoutTime,    // against the one so far
  kNetworkBuild,  // the network as it was, and as it will be
  kNetworkTime,
  kFinish,  // writes down how the run ended
};
inline constexpr size_t kNumStageKinds = static_cast<size_t>(StageKind::kFinish) + 1;

// "prepare", …, "confirm_build", …, "finish".
std::string_view Name(StageKind kind);

// Whether it needs the device for itself.
bool NeedsDevice(StageKind kind);

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_STAGE_H_
