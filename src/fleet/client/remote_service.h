// Measures on devices of a fleet as if they were here.
//
// Problem: devices are shared, and may vanish in the middle of a batch. Idea: a batch asks for as many of the
// key's devices as it can use, and each, once it is granted, takes the next items of the batch. Items whose
// device was lost go back to the batch, so that another one measures them. While one device measures a
// baseline, whose time the others are normalized with, its candidates wait.
#ifndef ATTUNE_FLEET_CLIENT_REMOTE_SERVICE_H_
#define ATTUNE_FLEET_CLIENT_REMOTE_SERVICE_H_

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fleet/client/fleet_client.h"
#include "measure/service.h"

namespace attune {

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
