// Forecasts agreements: by known results, or by predictions.
#ifndef ATTUNE_SERVICE_AGREEMENT_FORECASTER_H_
#define ATTUNE_SERVICE_AGREEMENT_FORECASTER_H_

#include <string>

#include "absl/status/statusor.h"
#include "fleet/serving/device_directory.h"
#include "service/agreement/agreement_forecast.h"
#include "service/agreement/asked_job.h"
#include "service/agreement/imported_facts.h"
#include "service/agreement/job_forecast.h"
#include "service/agreement/known_answers.h"
#include "service/agreement/quantization_model.h"
#include "service/queue/job_reader.h"

namespace attune {

// Thread safe. The arguments must outlive it.
class Forecaster {
 public:
  Forecaster(ImportedFacts& facts, JobReader& jobs, const DeviceDirectory& devices, KnownAnswers& known,
             const QuantizationModel& quantizations)
      : facts_(facts), jobs_(jobs), devices_(devices), known_(known), quantizations_(quantizations) {}

  // Waits some seconds for the model's import, if it was not imported yet: Aborted if it takes longer, or too
  // many wait. InvalidArgument if no promises can be made for such a job, NotFound if no device has the key;
  // and as the import fails.
  absl::StatusOr<AgreementForecast> Forecast(const AskedJob& job);

  // Returns the records that a job with this forecast starts with, as JSON lines; empty if there are none.
  std::string RecordsFor(const AgreementForecast& forecast);

 private:
  // Forecasts a job that no known result answers.
  absl::StatusOr<AgreementForecast> Predict(const AskedJob& job, const ModelFacts& facts,
                                            const DeviceOfKey& device, int threads);
  // Returns the forecast by all observations, unless that by the tenant's own is better: the observations of
  // others may be false, and refuse nothing.
  absl::StatusOr<AgreementForecast> PredictWithin(const JobToPredict& asked);

  ImportedFacts& facts_;
  JobReader& jobs_;
  const DeviceDirectory& devices_;
  KnownAnswers& known_;
  const QuantizationModel& quantizations_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_FORECASTER_H_
