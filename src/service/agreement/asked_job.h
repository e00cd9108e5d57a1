// A job for which promises are requested.
#ifndef ATTUNE_SERVICE_AGREEMENT_ASKED_JOB_H_
#define ATTUNE_SERVICE_AGREEMENT_ASKED_JOB_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "service/agreement/agreement.h"
#include "service/agreement/quantization_model.h"
#include "service/models/models.h"

namespace attune {

struct AskedJob {
  std::string tenant = {}, kind = {}, on = {};
  nlohmann::json settings = nlohmann::json::object();
  std::optional<ModelSource> model = {};
  Agreement agreement = {};
  std::vector<std::string> inputs = {};  // the names of its files
};

// Returns the settings of the job with the limits of its agreement: a time limit, if it waits for `seconds`,
// and the settings to judge and choose by the loss of accuracy.
nlohmann::json SettingsWithin(const AskedJob& job, double queue_seconds);

// How a job that quantizes judges, whose settings are those of SettingsWithin(). InvalidArgument if they are
// no settings of such a job.
absl::StatusOr<JudgingPlan> PlanOfJudging(const AskedJob& job);

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_ASKED_JOB_H_
