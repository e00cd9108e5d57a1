#include "fleet/leases/device_owners.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace attune {

std::set<std::string> DefaultSharing(const std::string& owner) {
  if (owner == kServersOwner) return {kEveryOwner};
  return {};
}

std::set<std::string> DefaultTrust() { return {kServersOwner}; }

void DeviceOwners::Put(const std::string& device, const std::string& owner, const std::set<std::string>& keys,
                       const std::set<std::string>& shared_with) {
  Remove(device);
  Device& known = devices_[device] = {.owner = owner, .keys = keys, .shared_with = shared_with};
  known.keys.insert(device);
  for (const std::string& key : known.keys) by_key_[key][owner].insert(device);
}

void DeviceOwners::Remove(const std::string& device) {
  const auto found = devices_.find(device);
  if (found == devices_.end()) return;
  for (const std::string& key : found->second.keys) {
    const auto owners = by_key_.find(key);
    const auto own = owners->second.find(found->second.owner);
    own->second.erase(device);
    if (own->second.empty()) owners->second.erase(own);
    if (owners->second.empty()) by_key_.erase(owners);
  }
  devices_.erase(found);
}

void DeviceOwners::SetTrust(const std::string& owner, std::set<std::string> trusted) {
  trust_[owner] = std::move(trusted);
}

std::set<std::string> DeviceOwners::TrustOf(const std::string& owner) const {
  const auto found = trust_.find(owner);
  return found == trust_.end() ? DefaultTrust() : found->second;
}

std::string DeviceOwners::OwnerOf(const std::string& device) const {
  const auto found = devices_.find(device);
  return found == devices_.end() ? "" : found->second.owner;
}

bool DeviceOwners::IsShared(const std::string& device, const std::string& asker) const {
  const auto found = devices_.find(device);
  if (found == devices_.end()) return false;
  const auto& [owner, keys, shared_with] = found->second;
  return owner == asker || asker == kFleetItself || shared_with.contains(asker) ||
         shared_with.contains(kEveryOwner);
}

bool DeviceOwners::MayUse(const std::string& device, const std::string& asker) const {
  if (!IsShared(device, asker)) return false;
  const std::string& owner = devices_.at(device).owner;
  return owner == asker || asker == kFleetItself || TrustOf(asker).contains(owner);
}

const DeviceOwners::ByOwner* DeviceOwners::WithKey(const std::string& key) const {
  const auto owners = by_key_.find(key);
  return owners == by_key_.end() ? nullptr : &owners->second;
}

const std::set<std::string>* DeviceOwners::WithKey(const std::string& owner, const std::string& key) const {
  const ByOwner* owners = WithKey(key);
  if (owners == nullptr) return nullptr;
  const auto devices = owners->find(owner);
  return devices == owners->end() ? nullptr : &devices->second;
}

bool DeviceOwners::AnyUsable(const std::string& owner, const std::string& key,
                             const std::string& asker) const {
  const std::set<std::string>* devices = WithKey(owner, key);
  return devices != nullptr &&
         std::ranges::any_of(*devices, [&](const std::string& device) { return MayUse(device, asker); });
}

std::optional<DeviceOwners::Meaning> DeviceOwners::MeaningOf(const std::string& asker,
                                                             const std::string& key) const {
  // No other owner can have a device's id as a key.
  if (const auto device = devices_.find(key); device != devices_.end()) {
    if (!MayUse(key, asker)) return std::nullopt;
    return Meaning{device->second.owner, key};
  }
  for (const std::string& owner : {asker, std::string(kServersOwner)})
    if (AnyUsable(owner, key, asker)) return Meaning{owner, key};
  if (const ByOwner* owners = WithKey(key); owners != nullptr) {
    for (const auto& [owner, devices] : *owners)
      if (AnyUsable(owner, key, asker)) return Meaning{owner, key};
  }
  const size_t slash = key.find('/');
  if (slash == std::string::npos) return std::nullopt;
  Meaning named = {key.substr(0, slash), key.substr(slash + 1)};
  if (!AnyUsable(named.owner, named.key, asker)) return std::nullopt;
  return named;
}

std::set<std::string> DeviceOwners::Meant(const std::string& asker, const std::string& key) const {
  std::set<std::string> meant;
  const std::optional<Meaning> meaning = MeaningOf(asker, key);
  if (!meaning) return meant;
  for (const std::string& device : *WithKey(meaning->owner, meaning->key))
    if (MayUse(device, asker)) meant.insert(device);
  return meant;
}

std::optional<std::string> DeviceOwners::Distrusted(const std::string& asker, const std::string& key) const {
  const ByOwner* owners = WithKey(key);
  if (owners == nullptr) return std::nullopt;
  for (const auto& [owner, devices] : *owners) {
    for (const std::string& device : devices)
      if (IsShared(device, asker) && !MayUse(device, asker)) return owner;
  }
  return std::nullopt;
}

std::optional<std::string> DeviceOwners::OtherWithKey(const std::string& owner, const std::string& key,
                                                      const std::string& device) const {
  const std::set<std::string>* devices = WithKey(owner, key);
  if (devices == nullptr) return std::nullopt;
  for (const std::string& other : *devices)
    if (other != device) return other;
  return std::nullopt;
}

}  // namespace attune
