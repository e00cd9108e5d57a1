// Tuning networks of the C interface: drives a tuning job on this machine to its end.
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>

#include "api/pipeline.h"
#include "api/tuning.h"
#include "base/process/worker.h"
#include "base/status.h"
#include "library/build_id.h"
#include "library/control.h"
#include "library/failure.h"
#include "library/network_state.h"
#include "library/options.h"
#include "library/result.h"
#include "library/step.h"

namespace attune::library {
namespace {

attune_tuning_progress ProgressOf(const TuningSummary& summary, const std::string& stage) {
  attune_tuning_progress progress = {.stage = stage.c_str(),
                                     .trials = summary.trials,
                                     .elapsed_seconds = summary.elapsed_seconds,
                                     .seconds_left = summary.seconds_left,
                                     .baseline_kernel_seconds = 0,
                                     .best_kernel_seconds = 0};
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

attune_task TaskOf(const TaskSummary& task, ResultMemory& memory) {
  return {.description = memory.Text(task.description),
          .uses = task.uses,
          .trials = task.trials,
          .failed_trials = task.failed,
          .transferred_trials = task.transferred,
          .baseline_seconds = task.default_seconds,
          .best_seconds = task.best_seconds,
          .best_config = memory.Text(task.is_untuned() ? "" : task.best_config)};
}

std::shared_ptr<const Result<attune_tuning>> ReportOf(NetworkTuner& tuner) {
  const TuningSummary summary = tuner.job().Summary();
  auto report = std::make_shared<Result<attune_tuning>>();
  ResultMemory& memory = report->memory;
  report->run = memory.Text(summary.run);
  report->trials = summary.trials;
  report->elapsed_seconds = summary.elapsed_seconds;
  report->baseline_seconds = summary.untuned_seconds;
  report->tuned_seconds = summary.tuned_seconds;
  report->was_stopped = static_cast<int>(tuner.job().is_stopped());
  report->records = memory.Text(tuner.records_path());
  report->fingerprint = memory.Text(summary.device);
  report->threads = summary.threads;
  report->num_tasks = summary.tasks.size();
  report->tasks =
      memory.Pointers(summary.tasks, [&](const TaskSummary& task) { return TaskOf(task, memory); });
  report->num_points = summary.curve.size();
  report->curve = memory.Pointers(summary.curve, [](const CurvePoint& point) {
    return attune_tuning_point{point.elapsed_seconds, point.trials, point.network_seconds};
  });
  report->num_stages = summary.stage_seconds.size();
  report->stages = memory.Pointers(summary.stage_seconds, [&](const auto& stage) {
    return attune_stage_time{.stage = memory.Text(stage.first), .seconds = stage.second};
  });
  return report;
}

absl::Status RunToEnd(NetworkTuner& tuner, const attune_control& control) {
  TuningJob& job = tuner.job();
  const std::stop_callback stops(TokenOf(control), [&job] { job.Cancel(); });
  return tuner.RunStages([&](const std::string& stage) {
    if (control.tuning_progress == nullptr) return;
    const attune_tuning_progress progress = ProgressOf(job.Summary(), stage);
    control.tuning_progress(control.context, &progress);
  });
}

absl::StatusOr<attune_network> Tune(const attune_network& network, const TuneSettings& settings,
                                    const attune_control& control) {
  NameBuild();
  attune_control stopping = {};
  stopping.stop = control.stop;
  attune_network state = network;
  ASSIGN_OR_RETURN(state.optimized, state.Optimized(stopping));
  TuneOptions tuning;
  SetRequest(state.ToCompile(), tuning);
  static_cast<TuneSettings&>(tuning.tuning) = settings;
  ASSIGN_OR_RETURN(const std::unique_ptr<NetworkTuner> tuner, NetworkTuner::Create(*state.optimized, tuning));
  RETURN_IF_ERROR(RunToEnd(*tuner, control));
  ASSIGN_OR_RETURN(state.compiled, tuner->Compile());
  RETURN_IF_ERROR(state.compiled->status());
  state.tuning = ReportOf(*tuner);
  state.is_as_measured = true;
  // What was compiled before was by other records, and perhaps for other processors.
  state.compiling.cpus = {};
  state.compiling.records = {};
  state.compiling.threads = settings.threads;
  return state;
}

}  // namespace
}  // namespace attune::library

using attune::library::CheckNotNull;
using attune::library::Guard;

attune_code attune_network_tune(const attune_network* network, const attune_options* options,
                                const attune_control* control, attune_network** result,
                                attune_failure** failure) {
  return attune::library::RunStep(
      ATTUNE_STEP_TUNE, network, options, control, result, failure,
      [&](attune_options& own, const attune_control& following_by) -> absl::StatusOr<attune_network> {
        return attune::library::Tune(*network, own.tune, following_by);
      });
}

attune_code attune_network_tuning(const attune_network* network, const attune_tuning** report,
                                  attune_failure** failure) {
  return Guard(failure, [&]() -> absl::Status {
    RETURN_IF_ERROR(CheckNotNull(network, report));
    if (network->tuning == nullptr)
      return attune::InvalidInput(network->imported.source(), ": is not tuned; call tune() first");
    *report = network->tuning.get();
    return absl::OkStatus();
  });
}
