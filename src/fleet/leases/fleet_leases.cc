#include "fleet/leases/fleet_leases.h"

#include <algorithm>
#include <utility>

namespace attune {

void FleetLeases::Join(const std::string& device, std::set<std::string> keys, double now) {
  Device& joined = devices_[device];
  joined.keys = std::move(keys);
  joined.seen = now;
}

void FleetLeases::Drain(const std::string& device, const std::string& reason) {
  if (const auto found = devices_.find(device); found != devices_.end()) found->second.drained = reason;
}

void FleetLeases::Resume(const std::string& device) {
  if (const auto found = devices_.find(device); found != devices_.end()) found->second.drained.reset();
}

void FleetLeases::Remove(const std::string& device) {
  const auto found = devices_.find(device);
  if (found == devices_.end()) return;
  if (found->second.lease) held_.erase(*found->second.lease);
  devices_.erase(found);
}

void FleetLeases::DeviceIsAlive(const std::string& device, double now) {
  if (const auto found = devices_.find(device); found != devices_.end()) found->second.seen = now;
}

int64_t FleetLeases::Ask(const DeviceRequest& request) {
  const Place place = {.priority = request.priority, .number = ++last_request_};
  waiting_.emplace(place, request);
  places_.emplace(place.number, place);
  return place.number;
}

bool FleetLeases::IsKnown(const std::string& key) const {
  return std::ranges::any_of(devices_, [&](const auto& entry) { return entry.second.keys.contains(key); });
}

void FleetLeases::Withdraw(int64_t request) {
  const auto place = places_.find(request);
  if (place == places_.end()) return;
  waiting_.erase(place->second);
  places_.erase(place);
}

FleetLeases::Device* FleetLeases::HolderOf(const LeaseToken& token) {
  const auto held = held_.find(token);
  return held == held_.end() ? nullptr : &devices_.at(held->second);
}

bool FleetLeases::HolderIsAlive(const LeaseToken& token, double now) {
  Device* device = HolderOf(token);
  if (device == nullptr) return false;
  device->holder_seen = now;
  return true;
}

bool FleetLeases::Release(const LeaseToken& token) {
  Device* device = HolderOf(token);
  if (device == nullptr) return false;
  device->lease.reset();
  held_.erase(token);
  return true;
}

std::vector<LostLease> FleetLeases::EndSilent(double now) {
  std::vector<LostLease> lost;
  for (const auto& [token, name] : held_) {
    const Device& device = devices_.at(name);
    const bool device_is_silent = IsSilent(device.seen, now);
    if (device_is_silent || IsSilent(device.holder_seen, now))
      lost.push_back({.device = name, .token = token, .device_was_silent = device_is_silent});
  }
  for (const LostLease& lease : lost) Release(lease.token);
  return lost;
}

std::vector<DeviceGrant> FleetLeases::Grant(double now) {
  std::vector<DeviceGrant> grants;
  if (now < grants_from_) return grants;
  // The free devices by each of their keys.
  std::map<std::string, std::set<std::string>> free;
  for (const auto& [name, device] : devices_) {
    if (!IsFree(device, now)) continue;
    for (const std::string& key : device.keys) free[key].insert(name);
  }
  for (auto request = waiting_.begin(); request != waiting_.end() && !free.empty();) {
    const auto found = free.find(request->second.key);
    if (found == free.end()) {
      ++request;
      continue;
    }
    const std::string name = *found->second.begin();
    Device& device = devices_.at(name);
    for (const std::string& key : device.keys) {
      const auto entry = free.find(key);
      entry->second.erase(name);
      if (entry->second.empty()) free.erase(entry);
    }
    device.lease = LeaseToken{.epoch = epoch_, .number = ++last_token_};
    device.holder_seen = now;
    held_.emplace(*device.lease, name);
    grants.push_back({.request = request->first.number, .device = name, .token = *device.lease});
    places_.erase(request->first.number);
    request = waiting_.erase(request);
  }
  return grants;
}

bool FleetLeases::IsCurrent(const std::string& device, const LeaseToken& token) const {
  const auto found = held_.find(token);
  return found != held_.end() && found->second == device;
}

std::optional<double> FleetLeases::NextTime() const {
  std::optional<double> next;
  const auto consider = [&](double time) { next = next ? std::min(*next, time) : time; };
  for (const auto& [token, name] : held_) {
    const Device& device = devices_.at(name);
    consider(std::min(device.seen, device.holder_seen) + lease_seconds_);
  }
  if (!waiting_.empty() && grants_from_ > 0) consider(grants_from_);
  return next;
}

}  // namespace attune
