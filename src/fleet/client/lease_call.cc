#include "fleet/client/lease_call.h"

#include <algorithm>
#include <cstdint>

#include "base/status.h"
#include "fleet/wire/checked_messages.h"
#include "fleet/wire/rpc_status.h"
#include "measure/codec.h"

namespace attune {
namespace {

namespace proto = fleet_proto;

constexpr double kLeastHeartbeatSeconds = 0.05, kMostHeartbeatSeconds = 60;

LeaseResult Decode(const proto::Result& result) {
  absl::StatusOr<Measurement> measurement = DecodeMeasurement(result.measurement());
  return {.index = static_cast<size_t>(static_cast<uint32_t>(result.index())),
          .measurement = measurement.ok() ? *std::move(measurement)
                                          : FailedMeasurement(TrialOutcome::kRetry,
                                                              std::string(measurement.status().message())),
          .missing = {result.missing().begin(), result.missing().end()}};
}

}  // namespace

LeaseCall::LeaseCall(FleetClient& client, const std::string& key, int priority, const proto::Token& resumed)
    : connection_(client.connection()), stream_(client.stub()->Measure(&context_)) {
  proto::FromClient message;
  proto::Ask* ask = message.mutable_ask();
  ask->set_version(kFleetVersion);
  ask->set_key(key);
  ask->set_priority(priority);
  if (resumed.number() != 0) *ask->mutable_resumed() = resumed;
  Write(message);
  if (!alive_.Start(heartbeat_seconds_).ok()) context_.TryCancel();
}

LeaseCall::~LeaseCall() {
  if (!is_over_) context_.TryCancel();
  alive_.Stop();
  if (is_over_) return;
  proto::ToClient ignored;
  while (stream_->Read(&ignored)) {
  }
  stream_->Finish();
}

absl::StatusOr<LeaseEvent> LeaseCall::Next() {
  proto::ToClient message;
  while (stream_->Read(&message)) {
    if (message.has_granted()) {
      connection_.OnAnswer(context_);
      const std::lock_guard<std::mutex> lock(mutex_);
      heartbeat_seconds_ =
          std::clamp(message.granted().heartbeat_seconds(), kLeastHeartbeatSeconds, kMostHeartbeatSeconds);
      return LeaseGranted{.device = message.granted().device(),
                          .info = message.granted().info(),
                          .token = message.granted().token()};
    }
    if (message.has_result()) return Decode(message.result());
    if (message.has_device_is_alive()) return DeviceAlive{};
  }
  is_over_ = true;
  const absl::Status ended = FromRpc(stream_->Finish());
  return ended.ok() ? absl::OutOfRangeError("the device was given back") : ended;
}

void LeaseCall::Send(const std::vector<std::pair<size_t, MeasureItem>>& items) {
  proto::FromClient message;
  for (const auto& [index, item] : items) {
    proto::Item* added = message.mutable_items()->add_items();
    added->set_index(static_cast<int32_t>(index));
    added->set_item(EncodeWorkerRequest(item));
  }
  Write(message);
}

void LeaseCall::Release() {
  proto::FromClient message;
  message.mutable_release();
  Write(message);
}

void LeaseCall::Write(const proto::FromClient& message) {
  const std::lock_guard<std::mutex> lock(write_mutex_);
  stream_->Write(message);  // if it fails, so does Next()
}

double LeaseCall::GiveSignOfLife() {
  proto::FromClient message;
  message.mutable_heartbeat();
  Write(message);
  const std::lock_guard<std::mutex> lock(mutex_);
  return heartbeat_seconds_;
}

}  // namespace attune
