// The last phase of a tuning job: measures the best candidates again, task by task, then the network.
//
// Problem: of many candidates that are measured once, the fastest owes its time in part to selection bias;
// a kernel that is faster by itself may be slower between its neighbours; kernels that are each faster may
// be slower together. Idea: confirm the best candidates against their baseline, with a longer measurement;
// then compare them within the network; then time the network as a whole, and revert whatever is
// significantly slower.
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
#include "base/job.h"
#include "tune/job/measuring.h"
#include "tune/job/network_compiler.h"
#include "tune/job/stage.h"
#include "tune/job/tuning_context.h"

namespace attune {

// The time that the phase will take, in seconds, if nothing more is found.
double FinalSeconds(const TuningContext& context);

// Not thread safe.
class FinalPhase {
 public:
  // `context` must outlive it.
  explicit FinalPhase(TuningContext& context) : context_(context) {}

  // The next stage.
  StageKind next() const;
  absl::Status Run(const JobGrant& grant);
  // The number of tasks in a stage of that kind.
  int64_t ItemsOf(StageKind kind) const;
  bool is_over() const { return is_over_; }

 private:
  // A task whose candidates are to be confirmed; the first attempt is the baseline.
  struct Confirming {
    size_t task = 0;
    std::vector<Attempt> attempts;
  };

  // Two builds of the network to compare.
  struct Pair {
    NetworkBuild baseline, candidate;
  };

  // Tasks with candidates that are not confirmed yet.
  std::vector<size_t> Unconfirmed() const;
  absl::Status ConfirmBuild(const JobGrant& grant);
  // Measures candidates of the first task in `confirming_` again, against its baseline.
  absl::Status ConfirmTime(const JobGrant& grant);
  absl::Status NoteConfirmation(TaskTuning& task, const Attempt& attempt, const Measurement& measurement);

  absl::Status BuildPair(const BestConfigs& baseline_configs, const LayoutOverrides& baseline_overrides,
                         const BestConfigs& configs, const LayoutOverrides& overrides);
  Measurement MeasurePair(MeasureItem::Kind kind, double seconds, const JobGrant& grant);

  // Confirms the best candidates within the network, where other kernels use the caches too.
  absl::Status CompareTime(const JobGrant& grant);
  absl::Status LayoutTime(const JobGrant& grant);
  absl::Status NetworkTime(const JobGrant& grant);
  absl::Status Finish();

  // The layout override that is tried now.
  LayoutOverrides OtherLayouts() const;
  absl::Status KeepRatio(size_t index, const TaskTimes::Code& code, double ratio, bool is_faster);
  absl::Status KeepDefault(size_t index, double ratio);

  TuningContext& context_;
  std::set<size_t> confirmed_;  // tasks confirmed since the last comparison
  std::deque<Confirming> confirming_;
  std::optional<Pair> pair_;  // built, to be measured next
  int comparisons_ = 0;
  bool is_compared_ = false;  // whether the best of all tasks was compared within the network
  int tried_layouts_ = 0;
  int network_times_ = 0;     // the number of times that it was measured
  bool is_measured_ = false;  // whether the final network was measured
  bool is_over_ = false;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_FINAL_PHASE_H_
