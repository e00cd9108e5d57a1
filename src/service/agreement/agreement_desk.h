// Answers agreements: by known results, or by predictions.
#ifndef ATTUNE_SERVICE_AGREEMENT_AGREEMENT_DESK_H_
#define ATTUNE_SERVICE_AGREEMENT_AGREEMENT_DESK_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/background_loop.h"
#include "base/clock.h"
#include "device/device.h"
#include "fleet/serving/device_directory.h"
#include "nlohmann/json.hpp"
#include "service/agreement/agreement_store.h"
#include "service/agreement/asked_job.h"
#include "service/agreement/known_answers.h"
#include "service/agreement/outlook.h"
#include "service/agreement/promise_counts.h"
#include "service/agreement/quantization_model.h"
#include "service/models/model_facts.h"
#include "service/models/models.h"
#include "service/queue/job_desk.h"

namespace attune {

// Thread safe. The arguments must outlive it.
class AgreementDesk {
 public:
  // `sharing`: as in KnownAnswers.
  AgreementDesk(AgreementStore& store, Models& models, JobDesk& jobs, const DeviceDirectory& devices,
                SharingTenants sharing = nullptr);
  ~AgreementDesk() { Stop(); }

  // Learns from jobs as they end, also from those that have ended before. Fails if the system has no thread
  // to give.
  absl::Status Begin();
  void Stop();

  // Waits some seconds for the model's import, if it was not imported yet: Aborted if it takes longer, or too
  // many wait. InvalidArgument if no promises can be made for such a job, NotFound if no device has the key;
  // and as the import fails.
  absl::StatusOr<Outlook> Foresee(const AskedJob& job);

  // Returns the records that a job with this forecast starts with, as JSON lines; empty if there are none.
  std::string RecordsFor(const Outlook& outlook);

  KnownAnswers& known() { return known_; }
  QuantizationModel& quantizations() { return quantizations_; }
  const PromiseCounts& promises() const { return promises_; }

 private:
  struct DeviceOfKey {
    DeviceInfo info = {};
    int count = 0;  // devices that are there
    bool is_one_kind = true;
  };

  struct EndedJob {
    JobQuery job = {};
    bool is_new = true;  // and not from before this process
  };

  absl::StatusOr<DeviceOfKey> DeviceFor(const std::string& tenant, const std::string& key) const;
  absl::StatusOr<std::shared_ptr<const ModelFacts>> FactsOf(const AskedJob& job);
  // The cost and gain of a quantization job, and the loss that it can show.
  absl::StatusOr<QuantizationForecast> ForesightOfQuantization(const AskedJob& job, const ModelFacts& facts,
                                                               const std::string& device, int threads,
                                                               const Peaks& peaks) const;
  absl::StatusOr<Foresight> ForesightOf(const AskedJob& job, const ModelFacts& facts,
                                        const DeviceOfKey& device, int threads,
                                        std::span<const JobAhead> ahead, Observers observers);
  // Returns the forecast by all observations, unless that by the tenant's own is better: the observations of
  // others may be false, and refuse nothing.
  absl::StatusOr<Outlook> OutlookFor(const AskedJob& job, const ModelFacts& facts, const DeviceOfKey& device,
                                     int threads, std::span<const JobAhead> ahead);
  // Jobs that ask for the same devices as this one.
  absl::StatusOr<std::vector<JobAhead>> JobsAhead(const AskedJob& job);

  // Learns from the next job that waits.
  double Step();
  // Counts which promises of a job that has just ended were met.
  void CountPromises(const JobQuery& job);
  void Learn(const JobQuery& job);
  void CatchUp();

  Models& models_;
  JobDesk& jobs_;
  const DeviceDirectory& devices_;
  KnownAnswers known_;
  QuantizationModel quantizations_;
  PromiseCounts promises_;

  std::atomic<int> waiting_ = 0;  // for imports
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const ModelFacts>> facts_;  // by tenant and model
  std::deque<EndedJob> ended_;                                      // to learn from
  bool has_caught_up_ = false;                                      // for the thread
  BackgroundLoop loop_{[this] { return Step(); }};
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_AGREEMENT_AGREEMENT_DESK_H_
