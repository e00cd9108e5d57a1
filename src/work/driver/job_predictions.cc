#include "work/driver/job_predictions.h"

#include "absl/strings/str_cat.h"
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

}  // namespace attune
