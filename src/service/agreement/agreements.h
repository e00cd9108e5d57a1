// Agreements with tenants: their forecasts, what these are made from, and what came of the promises.
#ifndef ATTUNE_SERVICE_AGREEMENT_AGREEMENTS_H_
#define ATTUNE_SERVICE_AGREEMENT_AGREEMENTS_H_

#include <utility>

#include "absl/status/status.h"
#include "fleet/serving/device_directory.h"
#include "service/agreement/agreement_store.h"
#include "service/agreement/forecaster.h"
#include "service/agreement/imported_facts.h"
#include "service/agreement/job_learner.h"
#include "service/agreement/known_answers.h"
#include "service/agreement/quantization_model.h"
#include "service/models/models.h"
#include "service/queue/ended_jobs.h"
#include "service/queue/job_reader.h"

namespace attune {

// Thread safe. The arguments must outlive it.
class Agreements {
 public:
  // `sharing`: as in KnownAnswers.
  Agreements(AgreementStore& store, Models& models, JobReader& jobs, EndedJobs& ended,
             const DeviceDirectory& devices, SharingTenants sharing = nullptr)
      : known_(store, std::move(sharing)),
        facts_(models),
        forecaster_(facts_, jobs, devices, known_, quantizations_),
        learner_(jobs, ended, known_, quantizations_, promises_) {}

  // As JobLearner has them.
  absl::Status Begin() { return learner_.Begin(); }
  void Stop() { learner_.Stop(); }

  Forecaster& forecaster() { return forecaster_; }
  KnownAnswers& known() { return known_; }
  QuantizationModel& quantizations() { return quantizations_; }
  const PromiseCounts& promises() const { return promises_; }

 private:
  KnownAnswers known_;
  QuantizationModel quantizations_;
  PromiseCounts promises_;
  ImportedFacts facts_;
  Forecaster forecaster_;
  JobLearner learner_;
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_AGREEMENTS_H_
