// The stages of a tuning job, and what each needs.
//
// A job is driven from outside: whoever drives it looks at the stage that comes next, decides when it may
// run, and runs it. No stage starts the next by itself, so that a scheduler can interleave the stages of many
// jobs and keep everything else away from a device while something is measured on it.
#ifndef ATTUNE_TUNE_JOB_STAGE_H_
#define ATTUNE_TUNE_JOB_STAGE_H_

#include <cstdint>
#include <string_view>

namespace attune {

enum class StageKind : uint8_t {
  kPrepare,   // spaces, records of earlier runs, what kernels are checked against
  kSelect,    // which candidates of which tasks come next
  kBuild,     // their code
  kMeasure,   // on the device
  kUpdate,    // what was learned
  kFinalize,  // the best of each task against the default, in turns
};
// "prepare", "select", "build", "measure", "update", "finalize".
std::string_view Name(StageKind kind);

// What a stage will take, known before it runs.
struct StageNeeds {
  int processors = 1;        // of the machine that the job runs on, kept busy
  bool device = false;       // alone: what else runs on the device would be measured too
  int64_t memory_bytes = 0;  // at most
  double seconds = 0;        // predicted from the stages of its kind before it
};

struct JobStage {
  StageKind kind = StageKind::kPrepare;
  StageNeeds needs;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_STAGE_H_
