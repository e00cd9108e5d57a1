// Transfers knowledge between a job's tasks, and from tasks of other networks.
#ifndef ATTUNE_TUNE_JOB_TRANSFER_H_
#define ATTUNE_TUNE_JOB_TRANSFER_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "tune/cost_model/cost_model.h"
#include "tune/job/tuning_context.h"
#include "tune/task/similarity.h"

namespace attune {

// Not thread safe.
class Transfer {
 public:
  // `context` must outlive it.
  explicit Transfer(const TuningContext& context) : context_(context) {}

  // Reads the records of tasks that are not part of this job.
  absl::Status Load();
  // Candidates that were fast for tasks similar to this one, the most similar task first.
  std::vector<Candidate> FoundElsewhere(size_t task) const;
  // Samples from the most similar other tasks, for the cost model.
  const std::vector<TaskSamples>& samples() const { return samples_; }

 private:
  // A task that only the records have, and its best candidate.
  struct OtherTask {
    TaskShape shape;
    Candidate best;
  };

  const TuningContext& context_;
  std::vector<OtherTask> others_;
  std::vector<TaskSamples> samples_;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_TRANSFER_H_
