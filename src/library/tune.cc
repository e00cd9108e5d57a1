// Network::tune(): drives a tuning job on this machine to its end.
#include <mutex>
#include <string>
#include <utility>

#include "api/pipeline.h"
#include "api/tuning.h"
#include "base/process/worker.h"
#include "library/build_id.h"
#include "library/convert.h"
#include "library/network_state.h"
#include "options/public_options.h"

namespace attune::compiler {
namespace {

TuningProgress ProgressOf(const TuningSummary& summary, std::string stage) {
  TuningProgress progress = {.stage = std::move(stage),
                             .trials = summary.trials,
                             .elapsed_seconds = summary.elapsed_seconds,
                             .seconds_left = summary.seconds_left};
  for (const TaskSummary& task : summary.tasks) {
    progress.baseline_kernel_seconds += task.uses * task.default_seconds;
    progress.best_kernel_seconds +=
        task.uses * (task.best_seconds > 0 ? task.best_seconds : task.default_seconds);
  }
  return progress;
}

// The workers that tuning starts must be of the library's build.
void NameBuild() {
  static std::once_flag once;
  std::call_once(once, [] { SetBuildId(kBuildId); });
}

TuningReport ReportOf(NetworkTuner& tuner) {
  const TuningSummary summary = tuner.job().Summary();
  TuningReport report = {.run = summary.run,
                         .trials = summary.trials,
                         .elapsed_seconds = summary.elapsed_seconds,
                         .baseline_seconds = summary.untuned_seconds,
                         .tuned_seconds = summary.tuned_seconds,
                         .was_stopped = tuner.job().is_stopped(),
                         .records = tuner.records_path(),
                         .fingerprint = summary.device,
                         .threads = summary.threads,
                         .stage_seconds = summary.stage_seconds};
  for (const TaskSummary& task : summary.tasks) {
    report.tasks.push_back({.description = task.description,
                            .uses = task.uses,
                            .trials = task.trials,
                            .failed_trials = task.failed,
                            .transferred_trials = task.transferred,
                            .baseline_seconds = task.default_seconds,
                            .best_seconds = task.best_seconds,
                            .best_config = task.is_untuned() ? "" : task.best_config});
  }
  for (const CurvePoint& point : summary.curve)
    report.curve.push_back({point.elapsed_seconds, point.trials, point.network_seconds});
  return report;
}

absl::Status RunToEnd(NetworkTuner& tuner, const TuneOptions& options) {
  TuningJob& job = tuner.job();
  const std::stop_callback stops(options.stop, [&job] { job.Cancel(); });
  return tuner.RunStages([&](const std::string& stage) {
    if (options.progress) options.progress(ProgressOf(job.Summary(), stage));
  });
}

}  // namespace

Network Network::tune(const TuneOptions& options) const {
  check(options);
  NameBuild();
  State state = *state_;
  state.optimized = state.Optimized({.stop = options.stop});
  attune::TuneOptions tuning;
  SetRequest(state.ToCompile(), tuning);
  Assign(options, tuning.tuning);
  const std::unique_ptr<NetworkTuner> tuner = Value(NetworkTuner::Create(*state.optimized, tuning));
  Check(RunToEnd(*tuner, options));
  state.compiled = Value(tuner->Compile());
  Check(state.compiled->status());
  state.tuning = std::make_shared<const TuningReport>(ReportOf(*tuner));
  state.is_as_measured = true;
  // What was compiled before was by other records, and perhaps for other processors.
  state.compiling.cpus = {};
  state.compiling.records = {};
  state.compiling.threads = options.threads;
  return Network(std::make_shared<const State>(std::move(state)));
}

}  // namespace attune::compiler
