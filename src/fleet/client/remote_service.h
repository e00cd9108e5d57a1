// Measures on devices of a fleet as if they were here.
//
// Problem: devices are shared, and may vanish in the middle of a batch. Idea: a batch asks for as many of the
// key's devices as it can use, and each, once it is granted, takes the next items of the batch. Items whose
// device was lost go back to the batch, so that another one measures them. While one device measures a
// baseline, whose time the others are normalized with, its candidates wait.
#ifndef ATTUNE_FLEET_CLIENT_REMOTE_SERVICE_H_
#define ATTUNE_FLEET_CLIENT_REMOTE_SERVICE_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/threads.h"
#include "fleet/client/fleet_client.h"
#include "fleet/client/lease_call.h"
#include "measure/batch_knowledge.h"
#include "measure/batch_results.h"
#include "measure/service.h"

namespace attune {

// A batch that devices of a fleet share.
struct RemoteBatchOptions {
  std::string key = {};
  int priority = 0;
  int devices = 1;  // that it may use at a time
  // Called with the digests of blobs that the fleet has lost.
  std::function<void(const std::vector<std::string>&)> forget = {};
};

// A thread for each device that it may use. Each asks for a lease, measures portions of what is left to
// measure, and gives the device back when nothing is.
class RemoteBatch final : public MeasureBatch {
 public:
  RemoteBatch(std::shared_ptr<FleetClient> client, RemoteBatchOptions options,
              std::vector<MeasureItem> items);
  ~RemoteBatch() override;

  std::optional<std::pair<size_t, Measurement>> Next(Deadline deadline) override;
  bool is_over() const override;
  void Cancel() override;
  double SecondsSinceHeartbeat() const override;

 private:
  void UseDevices();
  // One lease, from asking for it until it ends; `token` is that of the last one if it broke off, and is kept
  // if this one does.
  absl::Status UseLease(fleet_proto::Token& token);
  // The items that a device measures next; empty if none is left. Waits while all that are left wait for
  // their baseline.
  std::vector<std::pair<size_t, MeasureItem>> TakePortion();
  void Take(LeaseResult result, std::set<size_t>& sent);

  // For those who hold the mutex.
  bool MustWait(const MeasureItem& item) const;
  size_t PortionSize() const;
  // Items without a result so far get a failed one.
  void Drop(const std::string& reason);

  const std::shared_ptr<FleetClient> client_;
  const RemoteBatchOptions options_;
  const std::vector<MeasureItem> items_;
  std::atomic<double> heartbeat_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool is_cancelled_ = false;
  std::set<LeaseCall*> calls_;  // that are open
  std::set<size_t> left_;       // items that no device has
  BatchKnowledge knowledge_;
  std::set<std::string> awaited_;  // baselines that are items themselves, and not measured yet
  BatchResults results_;

  ThreadGroup threads_;  // last member: they use all of the above
};

struct RemoteServiceOptions {
  std::string key = {};  // of any device that will do
  int priority = 0;      // higher ones go first
};

// Thread safe. Batches hold a device only while they have something to measure on it.
class RemoteMeasuringService final : public MeasuringService {
 public:
  // Fails if the server cannot be asked, if no device has the key and none is promised, or if devices of
  // several kinds have it. Waits for a device that is promised.
  static absl::StatusOr<std::unique_ptr<RemoteMeasuringService>> Open(std::shared_ptr<FleetClient> client,
                                                                      RemoteServiceOptions options);

  const DeviceInfo& device() const override { return device_; }
  bool Has(const std::string& digest) const override;
  // Waits for a server that starts again, at most two minutes.
  absl::Status Put(const Blob& blob) override;
  std::unique_ptr<MeasureBatch> Submit(std::vector<MeasureItem> items) override;

 private:
  RemoteMeasuringService(std::shared_ptr<FleetClient> client, RemoteServiceOptions options, DeviceInfo device)
      : client_(std::move(client)), options_(std::move(options)), device_(std::move(device)) {}

  // The fleet has lost these blobs.
  void Forget(const std::vector<std::string>& digests);

  const std::shared_ptr<FleetClient> client_;
  const RemoteServiceOptions options_;
  const DeviceInfo device_;

  mutable std::mutex mutex_;
  std::set<std::string> sent_;  // digests
};

}  // namespace attune

#endif  // ATTUNE_FLEET_CLIENT_REMOTE_SERVICE_H_
