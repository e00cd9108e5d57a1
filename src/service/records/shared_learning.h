// Hands the records of jobs that are done to the cost model that jobs share, on a thread of its own, and
// gives it to new jobs.
#ifndef ATTUNE_SERVICE_RECORDS_SHARED_LEARNING_H_
#define ATTUNE_SERVICE_RECORDS_SHARED_LEARNING_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/background_loop.h"
#include "fleet/blobs/blob_store.h"
#include "fleet/serving/device_directory.h"
#include "service/records/shared_cost_model.h"
#include "work/store/stage_log.h"

namespace attune {

struct SharedLearningOptions {
  std::string folder = {};  // for copies of a job's records while they are read
  // The trusted owners of devices, by their agents' certificates; empty: none, and nothing is learned.
  std::set<std::string> owners = {};
  // Whether the tenant lets the cost model learn from its records now; null: none does.
  std::function<absl::StatusOr<bool>(const std::string& tenant)> consents = nullptr;
  SharedCostModelOptions model = {};
};

// Thread safe. The arguments must outlive it.
class SharedLearning {
 public:
  static absl::StatusOr<std::unique_ptr<SharedLearning>> Open(const SharedLearningOptions& options,
                                                              const SqlLocation& location, BlobStore& files,
                                                              const DeviceDirectory& devices);
  absl::Status Begin() { return loop_.Start(); }
  // Waits until the version that is being learned is there.
  void Stop() { loop_.Stop(); }

  // Learns from a job that is done, unless its tenant has not consented. Returns at once.
  void Offer(const JobRecord& job);

  // Whether there is a model that learns: the devices of some are trusted.
  bool learns() const { return !options_.owners.empty(); }

  // The text that a new job begins with; nothing if there is none that this program can use.
  absl::StatusOr<std::optional<std::string>> Current();
  absl::StatusOr<std::vector<CostModelVersion>> Versions(int64_t most) { return store_->Versions(most); }
  // No later version learns from the tenant's records.
  absl::Status RemoveTenant(const std::string& tenant) { return store_->RemoveTenant(tenant); }

 private:
  SharedLearning(const SharedLearningOptions& options, BlobStore& files, const DeviceDirectory& devices,
                 std::unique_ptr<CostModelStore> store)
      : options_(options),
        files_(files),
        devices_(devices),
        store_(std::move(store)),
        model_(*store_, options.model) {}

  // Learns from the next job that waits.
  double Step();
  absl::Status LearnFrom(const JobRecord& job);
  absl::Status Gather(const JobRecord& job, const std::map<std::string, Target>& devices);
  absl::StatusOr<bool> Consents(const std::string& tenant) const;
  // Records of tenants who do not consent any more are not learned from again.
  absl::Status ForgetOthers();
  // The devices that records may come from, by their fingerprints, and each one's target; none that is like
  // another owner's.
  std::map<std::string, Target> TrustedDevices() const;

  const SharedLearningOptions options_;
  BlobStore& files_;
  const DeviceDirectory& devices_;
  const std::unique_ptr<CostModelStore> store_;
  SharedCostModel model_;  // for the thread

  std::mutex mutex_;
  std::deque<JobRecord> offered_;
  BackgroundLoop loop_{[this] { return Step(); }};
};

}  // namespace attune

#endif  // ATTUNE_SERVICE_RECORDS_SHARED_LEARNING_H_
