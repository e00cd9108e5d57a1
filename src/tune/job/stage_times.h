// How long a job's stages take, and are predicted to take.
#ifndef ATTUNE_TUNE_JOB_STAGE_TIMES_H_
#define ATTUNE_TUNE_JOB_STAGE_TIMES_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "job/job.h"
#include "tune/job/stage.h"

namespace attune {

// A stage takes about as long for each of its items (tasks or candidates) as those of its kind before it did.
// Not thread safe.
class StageTimes {
 public:
  void Add(StageKind kind, double seconds, int64_t items);

  // Of one item; a guess before any stage of the kind has run.
  double SecondsOfItem(StageKind kind) const;
  SecondsPrediction Predict(StageKind kind, int64_t items) const;

  double total() const { return total_; }
  // By the kinds' names.
  std::map<std::string, double> BySumOfKind() const;

 private:
  struct OfKind {
    double seconds = 0;
    int64_t items = 0;
    std::vector<double> of_item;  // of each stage, the mean over its items
  };
  const OfKind& Of(StageKind kind) const { return kinds_[static_cast<size_t>(kind)]; }

  std::array<OfKind, kNumStageKinds> kinds_;
  double total_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_STAGE_TIMES_H_
