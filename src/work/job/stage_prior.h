// Predicts stages about which nothing is known yet, by figures that the program brings with it.
#ifndef ATTUNE_WORK_JOB_STAGE_PRIOR_H_
#define ATTUNE_WORK_JOB_STAGE_PRIOR_H_

#include <string_view>

#include "base/job.h"

namespace attune {

// The prior of a stage of such a job; of a whole job if `stage` is empty. Zeros if there is none.
SecondsPrediction StagePrior(std::string_view kind, std::string_view stage);

// The job's own prediction of a stage, or the prior if it has none.
SecondsPrediction OwnOrPrior(std::string_view kind, std::string_view stage, const SecondsPrediction& own);

}  // namespace attune

#endif  // ATTUNE_WORK_JOB_STAGE_PRIOR_H_
