// The last phase of a tuning job: what was found is measured again, task by task, then the network.
//
// Problem: of many candidates that are measured once, the fastest is partly the fastest by selection bias; a
// kernel that is faster by itself may be slower between its neighbours; kernels that are each faster may be
// slower together. Idea: what is best is confirmed against its baseline, for longer; then compared within the
// network; then the network is timed as a whole, and what is significantly slower is taken back.
#ifndef ATTUNE_TUNE_JOB_FINAL_PHASE_H_
#define ATTUNE_TUNE_JOB_FINAL_PHASE_H_

#include <cstddef>
#include <deque>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "job/job.h"
#include "tune/job/measuring.h"
#include "tune/job/network_compiler.h"
#include "tune/job/stage.h"
#include "tune/job/tuning_context.h"

namespace attune {

// What it will take, in seconds, if nothing more is found.
double FinalSeconds(const TuningContext& context);

// Not thread safe.
class FinalPhase {
 public:
  // Outlives it.
  explicit FinalPhase(TuningContext& context) : context_(context) {}

  // The stage that comes next.
  StageKind next() const;
  absl::Status Run(const JobGrant& grant);
  // Tasks that a stage of that kind has.
  int64_t ItemsOf(StageKind kind) const;
  bool is_over() const { return is_over_; }

 private:
  // A task whose candidates are to be confirmed; the first is the baseline's.
  struct Confirming {
    size_t task = 0;
    std::vector<Attempt> attempts;
  };

  // Two builds of the network that are compared.
  struct Pair {
    NetworkBuild baseline, candidate;
  };

  // Tasks that have something to confirm.
  std::vector<size_t> Unconfirmed() const;
  absl::Status ConfirmBuild(const JobGrant& grant);
  // Measures candidates of the first task again, against its baseline.
  absl::Status ConfirmTime(const JobGrant& grant);
  absl::Status NoteConfirmation(TaskTuning& task, const Attempt& attempt, const Measurement& measurement);

  absl::Status BuildPair(const BestConfigs& baseline_configs, const LayoutOverrides& baseline_overrides,
                         const BestConfigs& configs, const LayoutOverrides& overrides);
  Measurement MeasurePair(MeasureItem::Kind kind, double seconds, const JobGrant& grant);

  // Confirms what is best within the network, where it has other neighbours in the caches.
  absl::Status CompareTime(const JobGrant& grant);
  absl::Status LayoutTime(const JobGrant& grant);
  absl::Status NetworkTime(const JobGrant& grant);
  absl::Status Finish();

  // With the class that is tried now.
  LayoutOverrides Flipped() const;
  absl::Status KeepRatio(size_t index, const TaskTuning::Code& code, double ratio, bool is_faster);
  absl::Status KeepDefault(size_t index, double ratio);

  TuningContext& context_;
  std::set<size_t> confirmed_;  // tasks, since the last comparison
  std::deque<Confirming> confirming_;
  std::optional<Pair> pair_;  // that was built and is to be measured next
  int comparisons_ = 0;
  bool is_compared_ = false;  // the best of all tasks has been compared within the network
  int tried_layouts_ = 0;
  int network_times_ = 0;     // that it was measured
  bool is_measured_ = false;  // the network, as it will be
  bool is_over_ = false;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_FINAL_PHASE_H_
