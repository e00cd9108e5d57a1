#include "fleet/client/remote_service.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

#include "base/clock.h"
#include "base/log.h"
#include "base/status.h"
#include "device/codec.h"
#include "fleet/client/lease_call.h"
#include "fleet/client/remote_batch.h"

namespace attune {
namespace {

namespace proto = fleet_proto;

// The time to wait for a server that restarts, and the pauses between attempts.
constexpr double kServerSeconds = 120, kPauseSeconds = 0.5;

// Takes the next device with the key for a moment, to learn what it is.
absl::StatusOr<DeviceInfo> AwaitDevice(FleetClient& client, const RemoteServiceOptions& options) {
  Log(LogLevel::kWarning, "no device has the key now, asking for one", "key", options.key);
  LeaseCall call(client, options.key, options.priority, {});
  std::optional<absl::StatusOr<DeviceInfo>> info;
  absl::StatusOr<LeaseEvent> event = call.Next();
  for (; event.ok(); event = call.Next()) {
    const auto* granted = std::get_if<LeaseGranted>(&*event);
    if (granted == nullptr) continue;
    info = DecodeDevice(granted->info);
    call.Release();
  }
  return info ? *info : event.status();
}

bool IsOfUse(const proto::Device& device) { return device.is_there() && device.drained().empty(); }

}  // namespace

absl::StatusOr<std::unique_ptr<RemoteMeasuringService>> RemoteMeasuringService::Open(
    std::shared_ptr<FleetClient> client, RemoteServiceOptions options) {
  ASSIGN_OR_RETURN(const std::vector<proto::Device> devices, client->Devices(options.key));
  ASSIGN_OR_RETURN(DeviceInfo info,
                   devices.empty() ? AwaitDevice(*client, options) : DecodeDevice(devices.front().info()));
  for (const proto::Device& device : devices) {
    ASSIGN_OR_RETURN(const DeviceInfo other, DecodeDevice(device.info()));
    if (other.fingerprint == info.fingerprint) continue;
    return InvalidInput("devices of different kinds have the key \"", options.key,
                        "\": ", devices.front().id(), " is ", info.fingerprint, ", ", device.id(), " is ",
                        other.fingerprint, "; name one by another of its keys");
  }
  return std::unique_ptr<RemoteMeasuringService>(
      new RemoteMeasuringService(std::move(client), std::move(options), std::move(info)));
}

bool RemoteMeasuringService::Has(const std::string& digest) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return sent_.contains(digest);
}

absl::Status RemoteMeasuringService::Put(const Blob& blob) {
  const Stopwatch watch;
  absl::Status sent = client_->Send(blob);
  // Another process of the same owner may send it, too: then either finds that a piece is not the next one.
  while ((absl::IsUnavailable(sent) || absl::IsOutOfRange(sent)) && watch.Seconds() < kServerSeconds) {
    std::this_thread::sleep_for(std::chrono::duration<double>(kPauseSeconds));
    sent = client_->Send(blob);
  }
  RETURN_IF_ERROR(sent);
  const std::lock_guard<std::mutex> lock(mutex_);
  sent_.insert(blob.digest());
  return absl::OkStatus();
}

void RemoteMeasuringService::Forget(const std::vector<std::string>& digests) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const std::string& digest : digests) sent_.erase(digest);
}

std::unique_ptr<MeasureBatch> RemoteMeasuringService::Submit(std::vector<MeasureItem> items) {
  // Devices come and go. If the server does not say now which are there, the batch waits for one.
  const absl::StatusOr<std::vector<proto::Device>> devices = client_->Devices(options_.key);
  const int64_t count = devices.ok() ? std::ranges::count_if(*devices, IsOfUse) : 1;
  return std::make_unique<RemoteBatch>(
      client_,
      RemoteBatchOptions{.key = options_.key,
                         .priority = options_.priority,
                         .devices = static_cast<int>(std::max<int64_t>(1, count)),
                         .forget = [this](const std::vector<std::string>& digests) { Forget(digests); }},
      std::move(items));
}

}  // namespace attune
