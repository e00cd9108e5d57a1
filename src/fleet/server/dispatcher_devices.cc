// How the dispatcher shows devices, and what their owners and operators do with them.
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "fleet/server/dispatcher.h"

namespace attune {

namespace proto = fleet_proto;

proto::Device Dispatcher::Describe(const FleetDevice& device) const {
  proto::Device described;
  described.set_id(device.id);
  described.set_owner(device.owner);
  for (const std::string& key : device.keys) described.add_keys(key);
  described.set_info(device.info);
  if (device.drained) described.set_drained(*device.drained);
  described.mutable_shared_with()->Assign(device.shared_with.begin(), device.shared_with.end());
  if (const std::optional<LeaseToken> token = held_.OfDevice(device.id); token)
    described.set_held_by(held_.Find(*token)->owner);
  agents_.Describe(device.id, clock_.Now(), described);
  return described;
}

std::vector<proto::Device> Dispatcher::Devices(std::string_view key) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<proto::Device> found;
  for (const auto& [id, device] : devices_.all())
    if (key.empty() || device.keys.contains(std::string(key))) found.push_back(Describe(device));
  return found;
}

std::vector<proto::Device> Dispatcher::DevicesFor(const std::string& owner, const std::string& key) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<proto::Device> found;
  if (key.empty()) {
    for (const auto& [id, device] : devices_.all())
      if (devices_.owners().IsShared(id, owner)) found.push_back(Describe(device));
  } else {
    for (const std::string& id : devices_.owners().Meant(owner, key))
      found.push_back(Describe(*devices_.Find(id)));
  }
  return found;
}

std::set<std::string> Dispatcher::Meant(const std::string& owner, const std::string& key) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return devices_.owners().Meant(owner, key);
}

bool Dispatcher::IsSeen(const std::string& device, const std::string& owner) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return devices_.owners().IsShared(device, owner);
}

bool Dispatcher::MayUse(const std::string& device, const std::string& owner) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return devices_.owners().MayUse(device, owner);
}

std::map<std::string, int> Dispatcher::Waiting() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return leases_.Waiting();
}

DispatcherSnapshot Dispatcher::Snapshot() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  DispatcherSnapshot snapshot = {.counters = broker_.counters(),
                                 .agents = agents_.size(),
                                 .agents_with_shared_credentials = agents_.NumShared(clock_.Now()),
                                 .waiting = leases_.Waiting(),
                                 .seconds_since_tick = clock_.Now() - ticked_};
  snapshot.counters.agents_replaced = agents_.num_replaced();
  for (const auto& [id, device] : devices_.all()) {
    ++(agents_.Serving(id) == nullptr ? snapshot.devices_away
       : held_.OfDevice(id)           ? snapshot.devices_held
       : device.drained               ? snapshot.devices_drained
                                      : snapshot.devices_free);
  }
  return snapshot;
}

absl::Status Dispatcher::Promise(const std::string& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return devices_.Promise(key, clock_.Now());
}

absl::Status Dispatcher::CheckKey(const std::string& key, const std::string& owner) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return broker_.CheckKey(key, owner);
}

absl::StatusOr<proto::Device> Dispatcher::Share(const std::string& device, const std::string& owner,
                                                const OwnersChange& change) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ASSIGN_OR_RETURN(const FleetDevice* shared, devices_.Share(device, owner, change));
  broker_.EndForbidden();
  broker_.Grant();
  return Describe(*shared);
}

absl::StatusOr<std::set<std::string>> Dispatcher::SetTrust(const std::string& owner,
                                                           const OwnersChange& change) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ASSIGN_OR_RETURN(std::set<std::string> trusted, devices_.SetTrust(owner, change));
  broker_.EndForbidden();
  broker_.Grant();
  return trusted;
}

std::set<std::string> Dispatcher::TrustOf(const std::string& owner) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return devices_.owners().TrustOf(owner);
}

absl::Status Dispatcher::ForgetOwner(const std::string& owner) {
  const std::lock_guard<std::mutex> lock(mutex_);
  RETURN_IF_ERROR(devices_.ForgetOwner(owner));
  broker_.EndForbidden();
  return absl::OkStatus();
}

absl::Status Dispatcher::Drain(const std::string& device, const std::string& reason) {
  const std::lock_guard<std::mutex> lock(mutex_);
  RETURN_IF_ERROR(devices_.SetDrained(device, reason));
  leases_.Drain(device, reason);
  return absl::OkStatus();
}

absl::Status Dispatcher::Resume(const std::string& device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  RETURN_IF_ERROR(devices_.SetDrained(device, std::nullopt));
  leases_.Resume(device);
  broker_.Grant();
  return absl::OkStatus();
}

absl::Status Dispatcher::Remove(const std::string& device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  RETURN_IF_ERROR(devices_.Remove(device));
  if (const std::optional<LeaseToken> token = held_.OfDevice(device); token)
    broker_.End(*token, absl::UnavailableError(absl::StrCat(device, " was removed from the fleet")));
  leases_.Remove(device);
  agents_.Withdraw(device);
  return absl::OkStatus();
}

}  // namespace attune
