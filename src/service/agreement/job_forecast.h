// Predicts a job by what was observed of others: its latency, its duration and the size of its artifact.
#ifndef ATTUNE_SERVICE_AGREEMENT_JOB_FORECAST_H_
#define ATTUNE_SERVICE_AGREEMENT_JOB_FORECAST_H_

#include <span>

#include "absl/status/statusor.h"
#include "service/agreement/agreement_forecast.h"
#include "service/agreement/asked_job.h"
#include "service/agreement/device_of_key.h"
#include "service/agreement/duration_model.h"
#include "service/agreement/known_answers.h"
#include "service/agreement/quantization_model.h"
#include "service/models/model_facts.h"

namespace attune {

// A job as the models see it.
struct JobToPredict {
  const AskedJob& job;  // with the settings within its limits
  const ModelFacts& facts;
  const DeviceOfKey& device;
  int threads = 1;
  std::span<const JobAhead> ahead = {};
};

// Predicts it by the observations of these observers; a quantization by the tenant's own quantizations, too.
// InvalidArgument if its settings are none of its kind.
absl::StatusOr<JobForecast> PredictJob(const JobToPredict& asked, Observers observers, KnownAnswers& known,
                                       const QuantizationModel& quantizations);

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_JOB_FORECAST_H_
