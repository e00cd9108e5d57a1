// What a job's tasks learn from one another, and from those of other networks.
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
  // Outlives it.
  explicit Transfer(const TuningContext& context) : context_(context) {}

  // Reads the records of tasks that are none of this job's.
  absl::Status Load();
  // What was fast for tasks like this one, the most alike first.
  std::vector<Candidate> FoundElsewhere(size_t task) const;
  // What the cost model learns from the nearest of them.
  const std::vector<TaskSamples>& samples() const { return samples_; }

 private:
  // A task of the records alone, and its best.
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
