// Has candidates and networks built, checked and timed for a tuning job.
#ifndef ATTUNE_TUNE_JOB_MEASURING_H_
#define ATTUNE_TUNE_JOB_MEASURING_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/job.h"
#include "measure/service.h"
#include "target/target.h"
#include "tune/job/execution_limit.h"
#include "tune/job/options.h"
#include "tune/job/task_tuning.h"
#include "tune/job/trial_log.h"
#include "tune/job/tuning_tools.h"

namespace attune {

// A candidate of a task on its way through the stages: proposed, built, checked, timed.
struct Attempt {
  size_t task = 0;
  Candidate candidate;
  std::optional<float> score = {};  // from the cost model, if it had one
  // kRetry until the build has ended with another outcome.
  BuildResult built = {};
  std::optional<Blob> kernel = {};  // set once it was built and sent to be checked
  Measurement check = {};           // kRetry until it was checked
  int retries = 0;                  // caused by failures of building or measuring itself

  bool is_built() const { return built.outcome == TrialOutcome::kOk; }
  bool is_checked() const { return check.outcome == TrialOutcome::kOk; }
};

// Not thread safe.
class Measuring {
 public:
  // All arguments must outlive it. `is_stopped`: whether the job should end.
  Measuring(const TuningOptions& options, const Target& target, const TuningTools& tools, TrialLog& log,
            std::function<bool()> is_stopped);

  // Makes the reference data of a task and puts it into the service. Errors: the reference cannot evaluate
  // the task, or there is not enough memory.
  absl::Status RecordData(const TuningTask& task);

  // Builds the attempts that are not built yet, until the job is stopped.
  void Build(std::span<Attempt> attempts, std::span<const std::unique_ptr<TaskTuning>> tasks);
  // Checks the attempts that are built but not checked yet.
  absl::Status Check(std::span<Attempt> attempts, std::span<const std::unique_ptr<TaskTuning>> tasks,
                     const JobGrant& grant);

  // An attempt in a batch to time.
  struct Timed {
    Attempt* attempt = nullptr;
    MeasureOptions options;
  };
  // Times the attempts one after the other, each interleaved with its task's baseline, and passes each
  // result to `take`, in their order, until that returns false or fails. Attempts that failed before are
  // passed on with that failure.
  absl::Status Time(std::span<const Timed> timed, std::span<const std::unique_ptr<TaskTuning>> tasks,
                    const JobGrant& grant,
                    const std::function<absl::StatusOr<bool>(size_t, Measurement)>& take);

  // Measures a network, or the device's peaks.
  Measurement MeasureOne(MeasureItem item, const JobGrant& grant);
  absl::Status Put(const Blob& blob) { return PutMissing(*tools_.service, blob); }

  // The options for timing a candidate.
  MeasureOptions Options() const;
  // Likewise, of a task that is still being searched.
  MeasureOptions Options(const TaskTuning& task) const;
  // The limit for candidates of the search, which Options() takes from here.
  ExecutionLimit& execution_limit() { return execution_limit_; }
  // The most bytes that one process may use.
  int64_t memory_limit() const;

 private:
  // Waits a short time for the next result; cancels the batch if the job is stopped.
  std::optional<std::pair<size_t, Measurement>> AwaitNext(MeasureBatch& batch) const;
  // The next recorded result for the candidate, if a recording with one is replayed; otherwise `measured`.
  Measurement Believed(const TuningTask& task, const Candidate& candidate, Measurement measured) const;
  // `measured_ratio`: to the baseline, in this run.
  absl::Status LogMeasurement(const TuningTask& task, const Candidate& candidate, const Measurement& m,
                              double measured_ratio) const;

  const TuningOptions& options_;
  const Target& target_;
  const TuningTools& tools_;
  TrialLog& log_;
  const std::function<bool()> is_stopped_;
  const int64_t memory_of_machine_;
  std::map<std::string, std::string> data_;  // digests of reference data, by task digest
  ExecutionLimit execution_limit_{options_.execution_seconds};
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_MEASURING_H_
