#include "fleet/leases/fleet_leases.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace attune {

void FleetLeases::Join(const std::string& device, std::set<std::string> keys, double now,
                       std::set<std::string> owners) {
  Device& joined = devices_[device];
  joined.keys = std::move(keys);
  joined.owners = std::move(owners);
  joined.seen = now;
}

bool FleetLeases::Restore(const std::string& device, const LeaseToken& token, double now) {
  const auto found = devices_.find(device);
  const bool has_lease = found != devices_.end() && found->second.lease;
  if (token.epoch >= epoch_ || has_lease || held_.contains(token)) return false;
  Device& restored = devices_[device];
  restored.lease = token;
  restored.seen = restored.holder_seen = now;
  held_.emplace(token, device);
  return true;
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

bool FleetLeases::MayServe(const std::string& device, const std::string& owner) const {
  if (owner == kFleetItself) return true;
  const auto found = devices_.find(device);
  return found == devices_.end() || found->second.owners.empty() || found->second.owners.contains(owner);
}

std::map<std::string, int> FleetLeases::Waiting() const {
  std::map<std::string, int> waiting;
  for (const auto& [place, request] : waiting_) ++waiting[request.key];
  return waiting;
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

FleetLeases::FreeDevices FleetLeases::FindFree(double now) const {
  FreeDevices free;
  for (const auto& [name, device] : devices_) {
    if (!IsFree(device, now)) continue;
    for (const std::string& key : device.keys) free[key].insert(name);
  }
  return free;
}

std::optional<std::string> FleetLeases::Choose(const DeviceRequest& request, const FreeDevices& free) const {
  std::optional<DeviceOwners::Meaning> meaning;
  if (owners_ != nullptr) {
    meaning = owners_->MeaningOf(request.owner, request.key);
    if (!meaning) return std::nullopt;
  }
  const auto found = free.find(meaning ? meaning->key : request.key);
  if (found == free.end()) return std::nullopt;
  const auto is_meant = [&](const std::string& device) {
    return !meaning || (owners_->OwnerOf(device) == meaning->owner && owners_->MayUse(device, request.owner));
  };
  const auto name = std::ranges::find_if(found->second, [&](const std::string& device) {
    return is_meant(device) && MayServe(device, request.owner);
  });
  if (name == found->second.end()) return std::nullopt;
  return *name;
}

LeaseToken FleetLeases::Give(const std::string& name, const std::string& owner, double now) {
  const LeaseToken token = {.epoch = epoch_, .number = ++last_token_};
  Device& device = devices_.at(name);
  device.lease = token;
  device.holder = owner;
  device.holder_seen = now;
  held_.emplace(token, name);
  return token;
}

std::map<std::string, FleetLeases::Asking> FleetLeases::AskingByOwner() const {
  std::map<std::string, Asking> asking;
  for (const auto& [place, request] : waiting_) asking[request.owner].places.push_back(place);
  for (const auto& [token, name] : held_)
    if (const auto owner = asking.find(devices_.at(name).holder); owner != asking.end()) ++owner->second.held;
  return asking;
}

std::vector<DeviceGrant> FleetLeases::Grant(double now) {
  std::vector<DeviceGrant> grants;
  // Every message of an agent comes here, and mostly no request waits.
  if (now < grants_from_ || waiting_.empty()) return grants;
  FreeDevices free = FindFree(now);
  if (free.empty()) return grants;
  std::map<std::string, Asking> asking = AskingByOwner();
  const auto turn = [](const auto& entry) {
    const auto& [owner, own] = entry;
    const Place& next = own.places[own.next];
    const int rank = owner != kFleetItself ? 0 : next.priority < 0 ? 1 : -1;
    return std::tuple(rank, own.held, -int64_t{next.priority}, next.number);
  };
  while (!asking.empty() && !free.empty()) {
    const auto owner = std::ranges::min_element(asking, {}, turn);
    Asking& own = owner->second;
    const auto request = waiting_.find(own.places[own.next++]);
    const std::optional<std::string> name = Choose(request->second, free);
    if (name) ++own.held;
    if (own.next == own.places.size()) asking.erase(owner);
    if (!name) continue;
    for (const std::string& key : devices_.at(*name).keys) {
      const auto entry = free.find(key);
      entry->second.erase(*name);
      if (entry->second.empty()) free.erase(entry);
    }
    grants.push_back({.request = request->first.number,
                      .device = *name,
                      .token = Give(*name, request->second.owner, now)});
    places_.erase(request->first.number);
    waiting_.erase(request);
  }
  return grants;
}

bool FleetLeases::IsCurrent(const std::string& device, const LeaseToken& token) const {
  const auto found = held_.find(token);
  return found != held_.end() && found->second == device;
}

}  // namespace attune
