// How a tuning job has candidates and networks built, checked and timed.
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
#include "job/job.h"
#include "measure/service.h"
#include "target/target.h"
#include "tune/job/options.h"
#include "tune/job/task_tuning.h"
#include "tune/job/trial_log.h"
#include "tune/job/tuning_tools.h"

namespace attune {

// A candidate of a task on its way: proposed, built, checked, timed.
struct Attempt {
  size_t task = 0;
  Candidate candidate;
  std::optional<float> score = {};  // the cost model's, where it had one
  // Building: kRetry until it has ended otherwise.
  BuildResult built = {};
  std::optional<Blob> kernel = {};  // where it was built
  Measurement check = {};           // kRetry until it was checked
  int retries = 0;                  // since what builds or measures did not work

  bool is_built() const { return built.outcome == TrialOutcome::kOk; }
  bool is_checked() const { return check.outcome == TrialOutcome::kOk; }
};

// Not thread safe.
class Measuring {
 public:
  // All outlive it. `is_stopped`: whether somebody wants the job to end.
  Measuring(const TuningOptions& options, const Target& target, const TuningTools& tools, TrialLog& log,
            std::function<bool()> is_stopped);

  // Has the reference data of a task at the service. Errors: the reference cannot evaluate the task, or there
  // is no memory.
  absl::Status ProvideData(const TuningTask& task);

  // Builds those that are not, as far as nobody wants the job to end.
  void Build(std::span<Attempt> attempts, std::span<const std::unique_ptr<TaskTuning>> tasks);
  // Checks those that are built and not checked.
  absl::Status Check(std::span<Attempt> attempts, std::span<const std::unique_ptr<TaskTuning>> tasks,
                     const JobGrant& grant);

  // One of a batch that is timed.
  struct Timed {
    Attempt* attempt = nullptr;
    MeasureOptions options;
  };
  // Times them one after the other, each interleaved with its task's baseline, and tells each result to
  // `take` in their order, until that says false or fails. What failed before comes as it is.
  absl::Status Time(std::span<const Timed> timed, std::span<const std::unique_ptr<TaskTuning>> tasks,
                    const JobGrant& grant,
                    const std::function<absl::StatusOr<bool>(size_t, Measurement)>& take);

  // Measures one item of a network, or the device's peaks.
  Measurement MeasureOne(MeasureItem item, const JobGrant& grant);
  absl::Status Put(const Blob& blob) { return PutMissing(*tools_.service, blob); }

  // How a candidate is timed.
  MeasureOptions Options() const;
  // Bytes that one process may take.
  int64_t memory_limit() const;

 private:
  // Waits for the next result, but not for long; cancels the batch where somebody wants the job to end.
  std::optional<std::pair<size_t, Measurement>> AwaitNext(MeasureBatch& batch) const;
  // The next recorded result of an attempt, if a recording is replayed that has one; else `measured`.
  Measurement Believed(const TuningTask& task, const Candidate& candidate, Measurement measured) const;
  absl::Status LogMeasurement(const TuningTask& task, const Candidate& candidate, const Measurement& m) const;

  const TuningOptions& options_;
  const Target& target_;
  const TuningTools& tools_;
  TrialLog& log_;
  const std::function<bool()> is_stopped_;
  const int64_t memory_of_machine_;
  std::map<std::string, std::string> data_;  // digests of reference data, by those of tasks
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_MEASURING_H_
