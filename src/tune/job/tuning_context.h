// The state that the phases of a tuning job share.
#ifndef ATTUNE_TUNE_JOB_TUNING_CONTEXT_H_
#define ATTUNE_TUNE_JOB_TUNING_CONTEXT_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/peaks.h"
#include "plan/blocks.h"
#include "target/target.h"
#include "tune/job/measuring.h"
#include "tune/job/network_compiler.h"
#include "tune/job/options.h"
#include "tune/job/report.h"
#include "tune/job/stage_times.h"
#include "tune/job/task_tuning.h"
#include "tune/job/trial_log.h"
#include "tune/job/tuning_tools.h"
#include "tune/records/record.h"

namespace attune {

// The approximate time of each measurement of the whole network.
inline constexpr double kNetworkSeconds = 12;

// Not thread safe, except `stopping`. Neither copyable nor movable, since its members refer to each other.
struct TuningContext {
  TuningContext(const TuningOptions& options, TuningRun run, Target target, const TuningTools& tools);
  TuningContext(const TuningContext&) = delete;
  TuningContext& operator=(const TuningContext&) = delete;

  TuningOptions options;
  TuningRun run;
  const Target target;
  const TuningTools tools;
  std::atomic<bool> stopping = false;

  TrialLog log{options, run, tools};
  Measuring measuring{options, target, tools, log, [this] { return stopping.load(); }};

  std::vector<std::unique_ptr<TaskTuning>> tasks;
  LayoutOverrides overrides;  // the best layout override so far
  int layout_classes = 0;     // the number of classes to try
  Peaks peaks;                // of the device

  int64_t trials = 0;  // without repeated measurements for confirmation
  std::vector<CurvePoint> curve;
  std::vector<RankPoint> ranks;

  // Times of the stages that are over, when the running one began, and the time that the run took before it
  // was interrupted; all in seconds.
  StageTimes times;
  double stage_begin = 0;
  bool runs_stage = false;
  double earlier_seconds = 0;

  bool is_stopped() const { return stopping.load(std::memory_order_relaxed); }
  // The time of the job's stages until now, without the waits between them.
  double SpentSeconds() const;
  // Whether there is only time left to measure the network at the end.
  bool IsLate() const;
  // The best config of each task that is faster than its baseline.
  BestConfigs Best() const;
  // The next recorded event of that kind (Recording::Next), if the job replays a recording that has one.
  std::optional<nlohmann::json> Recorded(const std::string& event, const std::string& key) const;
  // The time of one inference, computed from the tasks' best times.
  double NetworkSeconds() const;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_TUNING_CONTEXT_H_
