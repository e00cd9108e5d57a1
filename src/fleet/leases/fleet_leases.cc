#include "fleet/leases/fleet_leases.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace attune {

void FreeDevices::Put(const std::string& device, const std::set<std::string>& keys, double expiry) {
  expiries_.Put(device, expiry);
  // A sign of life changes no keys.
  if (const auto known = keys_.find(device); known != keys_.end() && known->second == keys) return;
  EraseKeys(device);
  keys_.emplace(device, keys);
  for (const std::string& key : keys) by_key_[key].insert(device);
}

void FreeDevices::Erase(const std::string& device) {
  expiries_.Erase(device);
  EraseKeys(device);
}

void FreeDevices::EraseExpired(double now) {
  while (const std::optional<std::string> device = expiries_.TakeExpired(now)) EraseKeys(*device);
}

void FreeDevices::EraseKeys(const std::string& device) {
  const auto known = keys_.find(device);
  if (known == keys_.end()) return;
  for (const std::string& key : known->second) {
    const auto devices = by_key_.find(key);
    devices->second.erase(device);
    if (devices->second.empty()) by_key_.erase(devices);
  }
  keys_.erase(known);
}

const std::set<std::string>& FreeDevices::WithKey(const std::string& key) const {
  static const std::set<std::string> kNone;
  const auto devices = by_key_.find(key);
  return devices == by_key_.end() ? kNone : devices->second;
}

void FleetLeases::Update(const std::string& name) {
  const Device& device = devices_.at(name);
  if (device.lease) {
    ends_.Put(name, std::min(device.seen, device.holder_seen) + lease_seconds_);
  } else {
    ends_.Erase(name);
  }
  if (device.lease || device.drained) {
    free_.Erase(name);
  } else {
    free_.Put(name, device.keys, device.seen + lease_seconds_);
  }
}

void FleetLeases::Join(const std::string& device, std::set<std::string> keys, double now,
                       std::set<std::string> owners) {
  Device& joined = devices_[device];
  joined.keys = std::move(keys);
  joined.owners = std::move(owners);
  joined.seen = now;
  Update(device);
}

bool FleetLeases::Restore(const std::string& device, const LeaseToken& token, double now) {
  const auto found = devices_.find(device);
  const bool has_lease = found != devices_.end() && found->second.lease;
  if (token.epoch >= epoch_ || has_lease || held_.contains(token)) return false;
  Device& restored = devices_[device];
  restored.lease = token;
  restored.holder.clear();
  restored.seen = restored.holder_seen = now;
  held_.emplace(token, device);
  queue_.Hold(restored.holder);
  Update(device);
  return true;
}

void FleetLeases::Drain(const std::string& device, const std::string& reason) {
  const auto found = devices_.find(device);
  if (found == devices_.end()) return;
  found->second.drained = reason;
  Update(device);
}

void FleetLeases::Resume(const std::string& device) {
  const auto found = devices_.find(device);
  if (found == devices_.end()) return;
  found->second.drained.reset();
  Update(device);
}

void FleetLeases::Remove(const std::string& device) {
  const auto found = devices_.find(device);
  if (found == devices_.end()) return;
  if (const std::optional<LeaseToken> lease = found->second.lease; lease) Release(*lease);
  free_.Erase(device);
  devices_.erase(found);
}

void FleetLeases::DeviceIsAlive(const std::string& device, double now) {
  const auto found = devices_.find(device);
  if (found == devices_.end()) return;
  found->second.seen = now;
  Update(device);
}

int64_t FleetLeases::Ask(const DeviceRequest& request) { return queue_.Add(request); }

bool FleetLeases::MayServe(const std::string& device, const std::string& owner) const {
  if (owner == kFleetItself) return true;
  const auto found = devices_.find(device);
  return found == devices_.end() || found->second.owners.empty() || found->second.owners.contains(owner);
}

std::map<std::string, int> FleetLeases::Waiting() const { return queue_.NumByKey(); }

void FleetLeases::Withdraw(int64_t request) { queue_.Remove(request); }

bool FleetLeases::HolderIsAlive(const LeaseToken& token, double now) {
  const auto held = held_.find(token);
  if (held == held_.end()) return false;
  devices_.at(held->second).holder_seen = now;
  Update(held->second);
  return true;
}

bool FleetLeases::Release(const LeaseToken& token) {
  const auto held = held_.find(token);
  if (held == held_.end()) return false;
  Device& device = devices_.at(held->second);
  device.lease.reset();
  queue_.GiveBack(device.holder);
  Update(held->second);
  held_.erase(held);
  return true;
}

std::vector<LostLease> FleetLeases::EndSilent(double now) {
  std::vector<LostLease> lost;
  while (const std::optional<std::string> name = ends_.TakeExpired(now)) {
    const Device& device = devices_.at(*name);
    lost.push_back(
        {.device = *name, .token = *device.lease, .device_was_silent = IsSilent(device.seen, now)});
  }
  std::ranges::sort(lost, {}, &LostLease::token);
  for (const LostLease& lease : lost) Release(lease.token);
  return lost;
}

std::optional<std::string> FleetLeases::Choose(const DeviceRequest& request) const {
  std::optional<DeviceOwners::Meaning> meaning;
  if (owners_ != nullptr) {
    meaning = owners_->MeaningOf(request.owner, request.key);
    if (!meaning) return std::nullopt;
  }
  const auto is_meant = [&](const std::string& device) {
    return !meaning || (owners_->OwnerOf(device) == meaning->owner && owners_->MayUse(device, request.owner));
  };
  const std::set<std::string>& devices = free_.WithKey(meaning ? meaning->key : request.key);
  const auto name = std::ranges::find_if(devices, [&](const std::string& device) {
    return is_meant(device) && MayServe(device, request.owner);
  });
  if (name == devices.end()) return std::nullopt;
  return *name;
}

LeaseToken FleetLeases::Give(const std::string& name, const std::string& owner, double now) {
  const LeaseToken token = {.epoch = epoch_, .number = ++last_token_};
  Device& device = devices_.at(name);
  device.lease = token;
  device.holder = owner;
  device.holder_seen = now;
  held_.emplace(token, name);
  queue_.Hold(owner);
  Update(name);
  return token;
}

std::vector<DeviceGrant> FleetLeases::Grant(double now) {
  std::vector<DeviceGrant> grants;
  // Every message of an agent comes here, and mostly no request waits.
  if (now < grants_from_ || queue_.empty()) return grants;
  free_.EraseExpired(now);
  if (free_.empty()) return grants;
  queue_.Serve([&](int64_t number, const DeviceRequest& request) {
    const std::optional<std::string> name = Choose(request);
    if (!name) return false;
    grants.push_back({.request = number, .device = *name, .token = Give(*name, request.owner, now)});
    return true;
  });
  return grants;
}

bool FleetLeases::IsCurrent(const std::string& device, const LeaseToken& token) const {
  const auto found = held_.find(token);
  return found != held_.end() && found->second == device;
}

}  // namespace attune
