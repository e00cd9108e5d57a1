// How the dispatcher shows devices, and what operators do with them.
#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
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
  for (const auto& [token, lease] : held_)
    if (lease.device == device.id) described.set_held_by(lease.owner);
  const auto number = agent_of_device_.find(device.id);
  if (number == agent_of_device_.end()) return described;
  const Agent& agent = agents_.at(number->second);
  described.set_is_there(true);
  described.set_load(agent.load);
  if (const auto share = agent.disturbance.find(device.id); share != agent.disturbance.end())
    described.set_disturbance(share->second);
  described.set_program(agent.program);
  described.mutable_lacks()->Assign(agent.lacks.begin(), agent.lacks.end());
  if (const auto sensors = agent.sensors.find(device.id); sensors != agent.sensors.end())
    described.mutable_sensors()->Assign(sensors->second.begin(), sensors->second.end());
  if (shared_.IsShared(agent.who.who.id, clock_.Now()))
    described.set_warning(absl::StrCat("its agent's credentials are used in two places; attune fleet revoke ",
                                       agent.who.who.id, ", and invite both anew"));
  return described;
}

std::vector<proto::Device> Dispatcher::Devices(std::string_view key) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<proto::Device> found;
  for (const auto& [id, device] : devices_)
    if (key.empty() || device.keys.contains(std::string(key))) found.push_back(Describe(device));
  return found;
}

std::vector<proto::Device> Dispatcher::DevicesFor(const std::string& owner, const std::string& key) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<proto::Device> found;
  if (key.empty()) {
    for (const auto& [id, device] : devices_)
      if (owners_.IsShared(id, owner)) found.push_back(Describe(device));
  } else {
    for (const std::string& id : owners_.Meant(owner, key)) found.push_back(Describe(devices_.at(id)));
  }
  return found;
}

std::set<std::string> Dispatcher::Meant(const std::string& owner, const std::string& key) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return owners_.Meant(owner, key);
}

std::map<std::string, int> Dispatcher::Waiting() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return leases_.Waiting();
}

DispatcherSnapshot Dispatcher::Snapshot() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  DispatcherSnapshot snapshot = {.counters = counters_,
                                 .agents = std::ssize(agents_),
                                 .agents_with_shared_credentials = shared_.NumShared(clock_.Now()),
                                 .waiting = leases_.Waiting(),
                                 .seconds_since_tick = clock_.Now() - ticked_};
  std::set<std::string> held;
  for (const auto& [token, lease] : held_) held.insert(lease.device);
  for (const auto& [id, device] : devices_) {
    ++(!agent_of_device_.contains(id) ? snapshot.devices_away
       : held.contains(id)            ? snapshot.devices_held
       : device.drained               ? snapshot.devices_drained
                                      : snapshot.devices_free);
  }
  return snapshot;
}

absl::Status Dispatcher::CheckDevice(const std::string& device) const {
  if (devices_.contains(device)) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("no device ", device, "; attune fleet list shows all"));
}

absl::Status Dispatcher::Promise(const std::string& key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return promised_.Promise(key, clock_.Now());
}

absl::Status Dispatcher::CheckKey(const std::string& key, const std::string& owner) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return CheckServed(key, owner);
}

absl::Status Dispatcher::CheckServed(const std::string& key, const std::string& owner) const {
  const std::set<std::string> meant = owners_.Meant(owner, key);
  if (std::ranges::any_of(meant, [&](const std::string& id) { return leases_.MayServe(id, owner); }))
    return absl::OkStatus();
  if (!meant.empty())
    return absl::PermissionDeniedError(
        absl::StrCat("devices with the key \"", key, "\" take work of other owners only"));
  if (promised_.Has(key, clock_.Now())) return absl::OkStatus();
  if (const std::optional<std::string> other = owners_.Distrusted(owner, key))
    return absl::PermissionDeniedError(
        absl::StrCat("the device with the key \"", key, "\" is that of ", *other, ", whose devices ", owner,
                     " does not trust: they see the models; attune fleet trust ", *other, " allows it"));
  return absl::NotFoundError(absl::StrCat("no device has the key \"", key, "\" that is ", owner,
                                          "'s or shared with ", owner, "; attune fleet list shows the keys"));
}

absl::Status Dispatcher::Drain(const std::string& device, const std::string& reason) {
  const std::lock_guard<std::mutex> lock(mutex_);
  RETURN_IF_ERROR(CheckDevice(device));
  RETURN_IF_ERROR(store_.SetDrained(device, reason));
  devices_.at(device).drained = reason;
  leases_.Drain(device, reason);
  return absl::OkStatus();
}

absl::Status Dispatcher::Resume(const std::string& device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  RETURN_IF_ERROR(CheckDevice(device));
  RETURN_IF_ERROR(store_.SetDrained(device, std::nullopt));
  devices_.at(device).drained.reset();
  leases_.Resume(device);
  Grant();
  return absl::OkStatus();
}

absl::Status Dispatcher::Remove(const std::string& device) {
  const std::lock_guard<std::mutex> lock(mutex_);
  RETURN_IF_ERROR(CheckDevice(device));
  RETURN_IF_ERROR(store_.RemoveDevice(device));
  for (const auto& [token, lease] : held_) {
    if (lease.device != device) continue;
    EndLease(token, absl::UnavailableError(absl::StrCat(device, " was removed from the fleet")));
    break;
  }
  leases_.Remove(device);
  owners_.Remove(device);
  agent_of_device_.erase(device);
  devices_.erase(device);
  return absl::OkStatus();
}

}  // namespace attune
