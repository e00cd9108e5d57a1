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

namespace attune {
namespace {

namespace proto = fleet_proto;

// The time to wait for a server that restarts, and the pauses between attempts to reach it, or to get a
// device after one was lost.
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

// Portions are so small that devices end at about the same time, and so large that none waits for the
// network.
constexpr size_t kPortionsOfEach = 4, kMostPortion = 8;

// Whether another attempt may succeed without anybody doing anything.
bool MayPass(const absl::Status& status) {
  return absl::IsUnavailable(status) || absl::IsAborted(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsCancelled(status) || absl::IsInternal(status) || absl::IsUnknown(status);
}

}  // namespace

RemoteBatch::RemoteBatch(std::shared_ptr<FleetClient> client, RemoteBatchOptions options,
                         std::vector<MeasureItem> items)
    : client_(std::move(client)),
      options_(std::move(options)),
      items_(std::move(items)),
      heartbeat_(SystemClock().Now()),
      results_(items_.size()) {
  for (size_t i = 0; i < items_.size(); ++i) {
    left_.insert(left_.end(), i);
    if (items_[i].is_exclusive() && items_[i].subject == items_[i].baseline)
      awaited_.insert(items_[i].subject);
  }
  const int useful = static_cast<int>(std::min<size_t>(items_.size(), static_cast<size_t>(options_.devices)));
  if (threads_.Start(useful, [this] { UseDevices(); }) == 0) results_.Drop("the system has no more threads");
}

RemoteBatch::~RemoteBatch() {
  Cancel();
  threads_.Join();
}

std::optional<std::pair<size_t, Measurement>> RemoteBatch::Next(Deadline deadline) {
  return results_.Next(deadline);
}

bool RemoteBatch::is_over() const { return results_.is_over(); }

void RemoteBatch::Cancel() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_cancelled_) return;
  is_cancelled_ = true;
  for (LeaseCall* call : calls_) call->Release();
  Drop("cancelled");
}

double RemoteBatch::SecondsSinceHeartbeat() const { return SystemClock().Now() - heartbeat_; }

void RemoteBatch::UseDevices() {
  fleet_proto::Token token;
  bool is_told = false;  // that there is no device now
  for (;;) {
    const int64_t before = token.number();
    const absl::Status ended = UseLease(token);
    const bool had_device = token.number() != before;
    std::unique_lock<std::mutex> lock(mutex_);
    if (is_cancelled_ || results_.AllAreDone()) return;
    if (ended.ok() && left_.empty()) return;  // other devices measure the rest
    if (!ended.ok() && !MayPass(ended)) return Drop(std::string(ended.message()));
    if (!ended.ok() && (had_device || !is_told))
      Log(LogLevel::kWarning, "no device now, trying again", "reason", ended.message());
    is_told = !ended.ok();
    changed_.wait_for(lock, std::chrono::duration<double>(kPauseSeconds), [&] { return is_cancelled_; });
  }
}

absl::Status RemoteBatch::UseLease(fleet_proto::Token& token) {
  LeaseCall call(*client_, options_.key, options_.priority, token);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    calls_.insert(&call);
    if (is_cancelled_) call.Release();
  }
  std::set<size_t> sent;  // items without a result
  absl::StatusOr<LeaseEvent> event = call.Next();
  for (; event.ok(); event = call.Next()) {
    heartbeat_ = SystemClock().Now();
    if (std::holds_alternative<DeviceAlive>(*event)) continue;
    if (const auto* granted = std::get_if<LeaseGranted>(&*event)) token = granted->token;
    if (auto* result = std::get_if<LeaseResult>(&*event)) Take(std::move(*result), sent);
    if (!sent.empty()) continue;
    const std::vector<std::pair<size_t, MeasureItem>> portion = TakePortion();
    for (const auto& [index, item] : portion) sent.insert(index);
    portion.empty() ? call.Release() : call.Send(portion);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  calls_.erase(&call);
  for (const size_t index : sent)
    if (!results_.IsDone(index)) left_.insert(index);
  changed_.notify_all();
  if (!absl::IsOutOfRange(event.status())) return event.status();
  token.Clear();
  return absl::OkStatus();
}

bool RemoteBatch::MustWait(const MeasureItem& item) const {
  // One device measures a whole batch in its order, and so learns of the baseline in time.
  return options_.devices > 1 && item.is_exclusive() && item.subject != item.baseline &&
         item.baseline_seconds == 0 && awaited_.contains(item.baseline);
}

size_t RemoteBatch::PortionSize() const {
  if (options_.devices == 1) return left_.size();
  return std::clamp<size_t>(left_.size() / (kPortionsOfEach * static_cast<size_t>(options_.devices)), 1,
                            kMostPortion);
}

std::vector<std::pair<size_t, MeasureItem>> RemoteBatch::TakePortion() {
  std::unique_lock<std::mutex> lock(mutex_);
  std::vector<std::pair<size_t, MeasureItem>> portion;
  while (!left_.empty() && portion.empty()) {
    const size_t size = PortionSize();
    for (auto index = left_.begin(); index != left_.end() && portion.size() < size;) {
      if (MustWait(items_[*index])) {
        ++index;
        continue;
      }
      const MeasureItem& item = items_[*index];
      portion.emplace_back(*index, options_.devices == 1 ? item : knowledge_.Apply(item));
      index = left_.erase(index);
    }
    if (portion.empty()) changed_.wait(lock);
  }
  return portion;
}

void RemoteBatch::Take(LeaseResult result, std::set<size_t>& sent) {
  sent.erase(result.index);
  if (!result.missing.empty()) options_.forget(result.missing);
  const std::lock_guard<std::mutex> lock(mutex_);
  // An item that was given to a second device has two results.
  if (result.index >= items_.size() || results_.IsDone(result.index)) return;
  left_.erase(result.index);
  const MeasureItem& item = items_[result.index];
  knowledge_.Learn(item, result.measurement);
  if (item.subject == item.baseline) awaited_.erase(item.subject);
  results_.Deliver(result.index, std::move(result.measurement));
  changed_.notify_all();
}

void RemoteBatch::Drop(const std::string& reason) {
  left_.clear();
  results_.Drop(reason);
  changed_.notify_all();
}

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
