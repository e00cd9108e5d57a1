// Predicts a job by what was observed of others: its latency, its duration and the size of its artifact.
#ifndef ATTUNE_SERVICE_AGREEMENT_JOB_FORECAST_H_
#define ATTUNE_SERVICE_AGREEMENT_JOB_FORECAST_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "fleet/serving/device_directory.h"
#include "service/agreement/agreement_forecast.h"
#include "service/agreement/asked_job.h"
#include "service/agreement/device_rates.h"
#include "service/agreement/duration_model.h"
#include "service/agreement/known_answers.h"
#include "service/agreement/log_prediction.h"
#include "service/agreement/observation.h"
#include "service/agreement/quantization_model.h"
#include "service/models/model_facts.h"
#include "service/wire/jobs.pb.h"

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

// Returns those of the unfinished jobs that ask for the same devices as a job of the tenant with this key,
// whosever they are and whatever their keys.
std::vector<JobAhead> JobsAheadOf(const std::string& tenant, const std::string& key,
                                  std::span<const jobs_service_proto::Job> unfinished,
                                  const DeviceDirectory& devices);

// Predicts the size of an artifact: its constants, and what is beside them.
struct SizeForecast {
  LogPrediction bytes;
  int networks = 0;  // whose artifacts tell of it
};

// Predicts the size for a network with this digest and `weight_bytes` of constants. The size is not smaller
// than these, unless one of the artifacts was; earlier artifacts of this very network count most.
SizeForecast PredictSize(const std::string& network, double weight_bytes,
                         std::span<const std::shared_ptr<const Observation>> observations);

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_JOB_FORECAST_H_
