#include "fleet/host/mock_device_host.h"

#include <algorithm>
#include <optional>

#include "absl/status/status.h"
#include "base/process/message.h"
#include "base/threads.h"

namespace attune {

absl::StatusOr<std::unique_ptr<MockDeviceHost>> MockDeviceHost::Start(DeviceInfo device, Answer answer,
                                                                      OnHostEvent on_event) {
  std::unique_ptr<MockDeviceHost> host(
      new MockDeviceHost(std::move(device), std::move(answer), std::move(on_event)));
  if (!StartThread(host->thread_, [self = host.get()] { self->Work(); }))
    return absl::ResourceExhaustedError("the system has no more threads");
  return host;
}

MockDeviceHost::~MockDeviceHost() {
  queue_.Close();
  if (thread_.joinable()) thread_.join();
}

void MockDeviceHost::Work() {
  while (!queue_.is_closed()) {
    if (const std::optional<RunBatch> batch = queue_.Take(After(kHostBeatSeconds))) {
      AnswerAll(*batch);
    } else {
      on_event_(HostAlive{});
    }
  }
}

void MockDeviceHost::AnswerAll(const RunBatch& batch) {
  for (const HostItem& item : batch.items)
    on_event_(HostResult{batch.number, item.index, AnswerOne(item.item)});
  on_event_(HostBatchOver{batch.number});
}

Measurement MockDeviceHost::AnswerOne(const MeasureItem& item) {
  if (!queue_.IsCancelled()) {
    MockAnswer answer = answer_(item);
    if (Pass(answer.seconds)) return std::move(answer.measurement);
  }
  return FailedMeasurement(TrialOutcome::kRetry, "cancelled");
}

bool MockDeviceHost::Pass(double seconds) {
  const Deadline end = After(seconds);
  for (;;) {
    const Deadline beat = After(kHostBeatSeconds);
    if (queue_.AwaitCancellation(std::min(end, beat))) return false;
    if (end <= beat) return true;
    on_event_(HostAlive{});
  }
}

}  // namespace attune
