// Records and predicts how long a job's stages take.
#ifndef ATTUNE_TUNE_JOB_STAGE_TIMES_H_
#define ATTUNE_TUNE_JOB_STAGE_TIMES_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/job.h"
#include "tune/job/stage.h"

namespace attune {

// The prediction assumes that a stage takes about as long per item (task or candidate) as earlier stages of
// its kind. Not thread safe.
class StageTimes {
 public:
  void Add(StageKind kind, double seconds, int64_t items);

  // Seconds per item; a guess before any stage of that kind has run.
  double SecondsOfItem(StageKind kind) const;
  SecondsPrediction Predict(StageKind kind, int64_t items) const;

  double total() const { return total_; }
  // The sums of seconds, by the names of the kinds.
  std::map<std::string, double> BySumOfKind() const;

 private:
  struct OfKind {
    double seconds = 0;
    int64_t items = 0;
    std::vector<double> of_item;  // for each stage, the mean over its items
  };
  const OfKind& Of(StageKind kind) const { return kinds_[static_cast<size_t>(kind)]; }

  std::array<OfKind, kNumStageKinds> kinds_;
  double total_ = 0;
};

}  // namespace attune

#endif  // ATTUNE_TUNE_JOB_STAGE_TIMES_H_
