// One tuning job: the tasks of a network, tuned stage by stage.
#ifndef ATTUNE_TUNE_JOB_TUNING_JOB_H_
#define ATTUNE_TUNE_JOB_TUNING_JOB_H_

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "job/job.h"
#include "tune/job/final_phase.h"
#include "tune/job/options.h"
#include "tune/job/report.h"
#include "tune/job/search_phase.h"
#include "tune/job/stage.h"
#include "tune/job/tuning_context.h"
#include "tune/job/tuning_tools.h"

namespace attune {

// What a tuning job needs where stages measure: the device that the run's fingerprint names.
std::string DeviceKey(const std::string& fingerprint);

// As Job says; Best(), overrides() and Summary() are for the thread that runs the stages.
class TuningJob final : public Job {
 public:
  // `run` is in the database, new or to go on with. Candidates are built for `target`, the device's. Errors:
  // there is no such search strategy.
  static absl::StatusOr<std::unique_ptr<TuningJob>> Create(const Target& target, const TuningOptions& options,
                                                           TuningRun run, const TuningTools& tools);

  const std::string& id() const override { return context_.run.id; }
  std::optional<JobStage> Next() const override;
  absl::Status Run(const JobGrant& grant) override;
  // Makes kFinish come after the stage that runs, or at once.
  void Cancel() override { context_.stopping.store(true, std::memory_order_relaxed); }
  double SpentSeconds() const override;

  bool is_stopped() const { return context_.is_stopped(); }

  // The best config of each task that is faster than its default, by the task's text: complete when the job
  // is done, until then what the last phase has to confirm. And the layout override.
  BestConfigs Best() const { return context_.Best(); }
  const LayoutOverrides& overrides() const { return context_.overrides; }
  TuningSummary Summary() const;

 private:
  TuningJob(const TuningOptions& options, TuningRun run, const TuningTools& tools, const Target& target);

  struct Upcoming {
    StageKind kind;
    int64_t items;
  };
  // As the phases say when no stage runs.
  std::optional<Upcoming> FindNext() const;
  absl::Status RunStage(StageKind kind, const JobGrant& grant);
  // Seconds that the job will go on for; 0 where no bound says.
  double SecondsLeft() const;

  TuningContext context_;
  SearchPhase search_;
  FinalPhase final_;

  mutable std::mutex mutex_;      // of what follows, and of the context's times
  std::optional<Upcoming> next_;  // while no stage runs
  std::optional<StageKind> running_;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_TUNING_JOB_H_
