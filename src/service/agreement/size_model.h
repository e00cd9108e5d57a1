// Predicts the size of an artifact: its constants, and what is beside them.
#ifndef ATTUNE_SERVICE_AGREEMENT_SIZE_MODEL_H_
#define ATTUNE_SERVICE_AGREEMENT_SIZE_MODEL_H_

#include <memory>
#include <span>
#include <string>

#include "service/agreement/log_prediction.h"
#include "service/agreement/observation.h"

namespace attune {

struct SizeForecast {
  LogPrediction bytes;
  int networks = 0;  // whose artifacts tell of it
};

// Predicts the size for a network with this digest and `weight_bytes` of constants. The size is not smaller
// than these, unless one of the artifacts was; earlier artifacts of this very network count most.
SizeForecast PredictSize(const std::string& network, double weight_bytes,
                         std::span<const std::shared_ptr<const Observation>> observations);

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_SIZE_MODEL_H_
