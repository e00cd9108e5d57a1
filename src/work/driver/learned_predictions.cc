#include "work/driver/learned_predictions.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "base/status.h"
#include "work/driver/job_predictions.h"
#include "work/job/stage_prior.h"

namespace attune {

absl::Status LearnedPredictions::LearnOnce() {
  constexpr int64_t kMaxStages = 10'000;
  if (std::exchange(has_learned_, true)) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<PastStage> stages, store_.PastStages(kMaxStages));
  for (const PastStage& stage : stages) {
    predictions_.Add(StageLabels(stage.kind, stage.subject, stage.host, stage.name),
                     OwnOrPrior(stage.kind, stage.name, stage.own), stage.seconds);
  }
  return absl::OkStatus();
}

}  // namespace attune
