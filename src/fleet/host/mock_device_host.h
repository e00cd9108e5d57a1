// A device host without a device: answers with declared measurements after declared times, for tests and for
// the load of a fleet with many devices.
#ifndef ATTUNE_FLEET_HOST_MOCK_DEVICE_HOST_H_
#define ATTUNE_FLEET_HOST_MOCK_DEVICE_HOST_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "fleet/host/batch_queue.h"
#include "fleet/host/device_host.h"
#include "measure/item.h"

namespace attune {

struct MockAnswer {
  double seconds = 0;  // that the item takes
  Measurement measurement = {};
};

// Answers items one after the other, on a thread of its own. Needs no blobs, leases nothing, and is never
// lost.
class MockDeviceHost final : public DeviceHost {
 public:
  // Called by the mock's thread when it begins with an item.
  using Answer = std::function<MockAnswer(const MeasureItem&)>;

  // Fails if the system has no more threads.
  static absl::StatusOr<std::unique_ptr<MockDeviceHost>> Start(DeviceInfo device, Answer answer,
                                                               OnHostEvent on_event);
  ~MockDeviceHost() override;

  const DeviceInfo& device() const override { return device_; }
  const std::vector<std::string>& lacks() const override { return lacks_; }

  void Put(const std::string& /*digest*/, int /*file*/) override {}
  void Forget(const std::string& /*digest*/) override {}
  void Run(RunBatch batch) override { queue_.Add(std::move(batch)); }
  void Cancel(int64_t number) override { queue_.Cancel(number); }

 private:
  MockDeviceHost(DeviceInfo device, Answer answer, OnHostEvent on_event)
      : device_(std::move(device)), answer_(std::move(answer)), on_event_(std::move(on_event)) {}

  // The thread's loop.
  void Work();
  void AnswerAll(const RunBatch& batch);
  Measurement AnswerOne(const MeasureItem& item);
  // Lets the time pass. False, and at once, if the batch is cancelled.
  bool Pass(double seconds);

  const DeviceInfo device_;
  const std::vector<std::string> lacks_;  // none
  const Answer answer_;
  const OnHostEvent on_event_;
  BatchQueue queue_;

  std::thread thread_;  // last member: uses all of the above
};

}  // namespace attune

#endif  // ATTUNE_FLEET_HOST_MOCK_DEVICE_HOST_H_
