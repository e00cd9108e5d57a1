#include "work/driver/job_predictions.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "work/job/stage_prior.h"

namespace attune {

std::vector<std::string> StageLabels(const std::string& kind, const std::string& subject,
                                     const std::string& host, const std::string& stage) {
  const std::string general = absl::StrCat(kind, "/", stage);
  return {absl::StrCat(general, "/", subject, "/", host), absl::StrCat(general, "/", subject), general};
}

SecondsPrediction JobPredictions::Predict(const StagePredictions& all, const std::string& stage,
                                          const SecondsPrediction& own) const {
  return all.Predict(StageLabels(kind_, subject_, host_, stage), OwnOrPrior(kind_, stage, own));
}

void JobPredictions::Learn(StagePredictions& all, const std::string& stage, const SecondsPrediction& own,
                           double seconds) const {
  all.Add(StageLabels(kind_, subject_, host_, stage), OwnOrPrior(kind_, stage, own), seconds);
}

double JobPredictions::RemainingOfAll() const { return StagePrior(kind_, "").median; }

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
