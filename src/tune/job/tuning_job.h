// One tuning job: tunes the tasks of a network, stage by stage.
#ifndef ATTUNE_TUNE_JOB_TUNING_JOB_H_
#define ATTUNE_TUNE_JOB_TUNING_JOB_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/job.h"
#include "tune/job/final_phase.h"
#include "tune/job/options.h"
#include "tune/job/report.h"
#include "tune/job/search_phase.h"
#include "tune/job/stage.h"
#include "tune/job/tuning_context.h"
#include "tune/job/tuning_tools.h"

namespace attune {

// Thread safety is as in Job; Best(), overrides() and Summary() are only for the thread that runs the
// stages.
class TuningJob final : public Job {
 public:
  // `run` must be in the database, either new or to be resumed. Candidates are built for `target`, the
  // device's target. Fails if there is no such search strategy.
  static absl::StatusOr<std::unique_ptr<TuningJob>> Create(const Target& target, const TuningOptions& options,
                                                           TuningRun run, const TuningTools& tools);

  const std::string& id() const override { return context_.run.id; }
  std::optional<JobStage> Next() const override;
  absl::Status Run(const JobGrant& grant) override;
  // Makes kFinish the next stage, after the running one if there is one.
  void Cancel() override { context_.stopping.store(true, std::memory_order_relaxed); }
  double SpentSeconds() const override;
  double RemainingSeconds() const override;
  std::string Progress() const override;
  std::string Result() const override;

  // Once called, the run stays resumable after the last stage, until FinishRun(): for callers that have more
  // to do before the work is done. To be called before the first stage.
  void LeaveRunOpen() { leaves_run_open_ = true; }
  // Records that the run has ended. Called by the last stage, unless the run is left open.
  absl::Status FinishRun();

  bool is_stopped() const { return context_.is_stopped(); }

  // The best config of each task that is faster than its baseline, by the task's text, and the layout
  // override. Final when the job is done; until then, the last phase still has to confirm them.
  BestConfigs Best() const { return context_.Best(); }
  const LayoutOverrides& overrides() const { return context_.overrides; }
  TuningSummary Summary() const;

 private:
  TuningJob(const TuningOptions& options, TuningRun run, const TuningTools& tools, const Target& target);

  struct Upcoming {
    StageKind kind;
    int64_t items;
  };
  // The next stage according to the phases; only valid when no stage runs.
  std::optional<Upcoming> FindNext() const;
  absl::Status RunStage(StageKind kind, const JobGrant& grant);
  void AddBounds(TuningSummary& summary) const;

  bool leaves_run_open_ = false;
  TuningContext context_;
  SearchPhase search_;
  FinalPhase final_;

  mutable std::mutex mutex_;      // for the following members, and for the context's times
  std::optional<Upcoming> next_;  // set while no stage runs
  std::optional<StageKind> running_;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_TUNING_JOB_H_
