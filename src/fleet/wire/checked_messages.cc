#include "fleet/wire/checked_messages.h"

#include <utility>
#include <variant>

#include "base/checked_line.h"
#include "base/status.h"
#include "device/codec.h"
#include "fleet/blobs/blob_store.h"
#include "fleet/leases/device_owners.h"
#include "measure/codec.h"

namespace attune {
namespace {

namespace proto = fleet_proto;

constexpr size_t kMaxNameBytes = 64;  // of devices, and of owners as certificates have them
constexpr size_t kMaxProgramBytes = 256;
constexpr size_t kMaxSensorBytes = 256;
constexpr size_t kMaxLackBytes = 1024;
constexpr size_t kMaxSecretBytes = 1024;

absl::Status CheckCount(std::string_view what, int count, int least, int most) {
  if (count >= least && count <= most) return absl::OkStatus();
  return InvalidInput(what, ": there are ", least, " to ", most, ", and not ", count);
}

// Each of them one line of 1 to `most_bytes`.
template <typename Texts>
absl::Status CheckLines(std::string_view what, const Texts& texts, int most, size_t most_bytes) {
  RETURN_IF_ERROR(CheckCount(what, texts.size(), 0, most));
  for (const std::string& text : texts) RETURN_IF_ERROR(CheckLine(what, text, 1, most_bytes));
  return absl::OkStatus();
}

absl::Status CheckRequestPem(const std::string& pem) {
  if (pem.size() <= kMaxRequestPemBytes) return absl::OkStatus();
  return InvalidInput("a request for a certificate has at most ", kMaxRequestPemBytes, " bytes");
}

absl::StatusOr<OfferedDevice> CheckedDevice(const proto::AgentDevice& device) {
  RETURN_IF_ERROR(CheckLine("a device's name", device.name(), 1, kMaxNameBytes));
  if (device.name().find('/') != std::string::npos) return InvalidInput("a device's name has a slash");
  RETURN_IF_ERROR(CheckLines("a device's keys", device.keys(), kMaxKeysOfDevice, kMaxKeyBytes));
  RETURN_IF_ERROR(CheckLines("a device's sensors", device.sensors(), kMaxSensors, kMaxSensorBytes));
  RETURN_IF_ERROR(
      CheckLines("the owners that a device trusts", device.trusted_owners(), kMaxOwners, kMaxNameBytes));
  const absl::StatusOr<DeviceInfo> info = DecodeDevice(device.info());
  if (!info.ok()) return InvalidInput("a device's description is none: ", info.status().message());
  return OfferedDevice{.name = device.name(),
                       .fingerprint = info->fingerprint,
                       .info = EncodeDevice(*info),
                       .keys = {device.keys().begin(), device.keys().end()},
                       .owners = {device.trusted_owners().begin(), device.trusted_owners().end()},
                       .sensors = {device.sensors().begin(), device.sensors().end()}};
}

absl::StatusOr<AgentOffer> CheckedHello(const proto::Hello& hello) {
  RETURN_IF_ERROR(CheckFleetVersion("agent", hello.version()));
  RETURN_IF_ERROR(CheckCount("an agent's devices", hello.devices_size(), 1, kMaxDevicesOfAgent));
  RETURN_IF_ERROR(CheckLine("an agent's program", hello.program(), 0, kMaxProgramBytes));
  RETURN_IF_ERROR(
      CheckLines("a list of the lacks of an agent's host", hello.lacks(), kMaxLacksOfAgent, kMaxLackBytes));
  AgentOffer offer = {
      .program = hello.program(), .lacks = {hello.lacks().begin(), hello.lacks().end()}, .devices = {}};
  std::set<std::string_view> names;
  for (const proto::AgentDevice& device : hello.devices()) {
    ASSIGN_OR_RETURN(OfferedDevice offered, CheckedDevice(device));
    if (!names.insert(device.name()).second) return InvalidInput("two devices of an agent have one name");
    offer.devices.push_back(std::move(offered));
  }
  return offer;
}

absl::Status CheckLoad(double load) {
  // Not NaN either.
  return load >= 0 && load <= kMaxLoad ? absl::OkStatus() : InvalidInput("a load is 0 to ", kMaxLoad);
}

absl::Status CheckHeartbeat(const proto::AgentHeartbeat& heartbeat) {
  RETURN_IF_ERROR(CheckLoad(heartbeat.load()));
  RETURN_IF_ERROR(CheckCount("an agent's disturbed devices", static_cast<int>(heartbeat.disturbance().size()),
                             0, kMaxDevicesOfAgent));
  for (const auto& [name, share] : heartbeat.disturbance())
    if (!(share >= 0 && share <= 1)) return InvalidInput("a disturbance is a share, 0 to 1");
  return absl::OkStatus();
}

// Owners to add and to remove.
template <typename Change>
absl::Status CheckOwners(const Change& change) {
  RETURN_IF_ERROR(CheckLines("owners to add", change.add(), kMaxOwners, kMaxNameBytes));
  return CheckLines("owners to remove", change.remove(), kMaxOwners, kMaxNameBytes);
}

absl::StatusOr<Measurement> CheckedResult(const proto::Result& result) {
  if (result.index() < 0) return InvalidInput("a result's index is negative");
  RETURN_IF_ERROR(CheckCount("the blobs that a device misses", result.missing_size(), 0, kMaxMissingBlobs));
  for (const std::string& digest : result.missing()) RETURN_IF_ERROR(CheckBlobDigest(digest));
  absl::StatusOr<Measurement> measurement = DecodeMeasurement(result.measurement());
  if (!measurement.ok()) return InvalidInput("a result is not a measurement");
  return measurement;
}

absl::Status CheckAsk(const proto::Ask& ask) {
  RETURN_IF_ERROR(CheckFleetVersion("client", ask.version()));
  return CheckLine("a device's key", ask.key(), 1, kMaxKeyBytes);
}

absl::Status CheckItems(const proto::Items& items) {
  RETURN_IF_ERROR(CheckCount("a lease's items", items.items_size(), 0, kMaxItemsOfLease));
  for (const proto::Item& item : items.items()) {
    if (item.index() < 0) return InvalidInput("an item's index is negative");
    if (item.item().size() > kMaxItemBytes) return InvalidInput("an item is too large");
    const auto request = DecodeWorkerRequest(item.item());
    // Whether a device speaks the client's version of measuring is for the device to say.
    if (absl::IsFailedPrecondition(request.status())) continue;
    if (!request.ok() || !std::holds_alternative<MeasureItem>(*request))
      return InvalidInput("an item is nothing to measure");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<AgentSays> Checked(const proto::FromAgent& message) {
  AgentSays says;
  if (message.has_hello()) {
    ASSIGN_OR_RETURN(says.offer, CheckedHello(message.hello()));
  } else if (message.has_heartbeat()) {
    RETURN_IF_ERROR(CheckHeartbeat(message.heartbeat()));
  } else if (message.has_result()) {
    ASSIGN_OR_RETURN(says.measurement, CheckedResult(message.result()));
  }
  return says;
}

absl::Status Check(const proto::FromClient& message) {
  if (message.has_ask()) return CheckAsk(message.ask());
  return message.has_items() ? CheckItems(message.items()) : absl::OkStatus();
}

absl::Status Check(const proto::EnrolRequest& request) {
  RETURN_IF_ERROR(CheckLine("an invitation's secret", request.secret(), 0, kMaxSecretBytes));
  return CheckRequestPem(request.certificate_request());
}

absl::Status Check(const proto::RenewRequest& request) {
  return CheckRequestPem(request.certificate_request());
}

absl::Status Check(const proto::QueueRequest& request) {
  return CheckLines("promised keys", request.promised_keys(), kMaxPromisedKeys, kMaxKeyBytes);
}

absl::Status Check(const proto::DeviceChange& change) {
  return CheckLine("a reason", change.reason(), 0, kMaxChangeReasonBytes);
}

absl::Status Check(const proto::DeviceSharing& sharing) { return CheckOwners(sharing); }

absl::Status Check(const proto::TrustChange& change) { return CheckOwners(change); }

absl::Status Check(const proto::RevokeRequest& request) {
  return CheckLine("a reason", request.reason(), 0, kMaxChangeReasonBytes);
}

}  // namespace attune
