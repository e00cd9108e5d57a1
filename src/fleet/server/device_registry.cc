#include "fleet/server/device_registry.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status.h"
#include "fleet/wire/checked_messages.h"

namespace attune {
namespace {

absl::Status CheckNumber(const std::set<std::string>& owners) {
  if (std::ssize(owners) <= kMaxOwners) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("at most ", kMaxOwners, " owners can be named here; \"*\" shares a device with all"));
}

constexpr size_t kMostKeyBytes = 256;

}  // namespace

absl::Status PromisedKeys::Promise(const std::string& key, double now) {
  if (key.empty() || key.size() > kMostKeyBytes) return InvalidInput("a key has 1 to 256 bytes");
  std::erase_if(ends_, [&](const auto& entry) { return entry.second <= now; });
  if (std::ssize(ends_) >= kMostKeys && !ends_.contains(key))
    return absl::ResourceExhaustedError("too many keys are promised");
  ends_[key] = now + kPromiseSeconds;
  return absl::OkStatus();
}

bool PromisedKeys::Has(const std::string& key, double now) const {
  const auto end = ends_.find(key);
  return end != ends_.end() && now < end->second;
}

absl::Status DeviceRegistry::Load() {
  ASSIGN_OR_RETURN(std::vector<FleetDevice> devices, store_.Devices());
  for (FleetDevice& device : devices) {
    UpdateOwners(device);
    devices_.emplace(device.id, std::move(device));
  }
  ASSIGN_OR_RETURN(const auto trusts, store_.Trusts());
  for (const auto& [owner, trusted] : trusts) owners_.SetTrust(owner, trusted);
  return absl::OkStatus();
}

const FleetDevice* DeviceRegistry::Find(const std::string& device) const {
  const auto found = devices_.find(device);
  return found == devices_.end() ? nullptr : &found->second;
}

void DeviceRegistry::UpdateOwners(const FleetDevice& device) {
  owners_.Put(device.id, device.owner, device.keys, device.shared_with);
}

absl::Status DeviceRegistry::CheckKnown(const std::string& device) const {
  if (devices_.contains(device)) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("no device ", device, "; attune fleet list shows all"));
}

absl::Status DeviceRegistry::CheckRoom(const std::string& agent, std::set<std::string> ids) const {
  for (const auto& [id, device] : devices_)
    if (device.agent == agent) ids.insert(id);
  if (std::ssize(ids) <= kMaxDevicesOfAgent) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("an agent has at most ", kMaxDevicesOfAgent,
                                                   " devices, with those that it has no more; ",
                                                   "attune fleet remove forgets one"));
}

absl::Status DeviceRegistry::CheckKeys(const FleetDevice& device, const std::string& fingerprint) const {
  const FleetDevice* known = Find(device.id);
  for (const std::string& key : device.keys) {
    if (key == device.id || key == fingerprint) continue;
    if (known != nullptr && known->keys.contains(key) && known->keys.contains(fingerprint)) continue;
    if (devices_.contains(key))
      return InvalidInput("the key \"", Printable(key), "\" is the id of another device; choose another key");
    const std::optional<std::string> other = owners_.OtherWithKey(device.owner, key, device.id);
    if (!other || devices_.at(*other).keys.contains(fingerprint)) continue;
    return absl::FailedPreconditionError(absl::StrCat(
        device.owner, " has a device of another kind with the key \"", Printable(key), "\", ", *other,
        ": choose another --key, or let an operator forget that one with attune fleet remove ", *other));
  }
  return absl::OkStatus();
}

absl::StatusOr<const FleetDevice*> DeviceRegistry::Join(FleetDevice device, const std::string& fingerprint) {
  device.keys.insert({fingerprint, device.id});
  if (const FleetDevice* known = Find(device.id); known != nullptr) {
    device.drained = known->drained;
    device.shared_with = known->shared_with;
  } else {
    device.shared_with = DefaultSharing(device.owner);
  }
  RETURN_IF_ERROR(CheckKeys(device, fingerprint));
  RETURN_IF_ERROR(store_.PutDevice(device));
  UpdateOwners(device);
  FleetDevice& joined = devices_[device.id];
  joined = std::move(device);
  return &joined;
}

absl::Status DeviceRegistry::SetDrained(const std::string& device, const std::optional<std::string>& reason) {
  RETURN_IF_ERROR(CheckKnown(device));
  RETURN_IF_ERROR(store_.SetDrained(device, reason));
  devices_.at(device).drained = reason;
  return absl::OkStatus();
}

absl::Status DeviceRegistry::Remove(const std::string& device) {
  RETURN_IF_ERROR(CheckKnown(device));
  RETURN_IF_ERROR(store_.RemoveDevice(device));
  owners_.Remove(device);
  devices_.erase(device);
  return absl::OkStatus();
}

absl::StatusOr<const FleetDevice*> DeviceRegistry::Share(const std::string& device, const std::string& owner,
                                                         const OwnersChange& change) {
  const auto found = devices_.find(device);
  if (found == devices_.end() || found->second.owner != owner)
    return absl::NotFoundError(
        absl::StrCat(owner, " has no device ", Printable(device), "; its owner alone shares a device"));
  std::set<std::string> shared = found->second.shared_with;
  change(shared);
  shared.erase(owner);  // whose it is anyway
  RETURN_IF_ERROR(CheckNumber(shared));
  RETURN_IF_ERROR(store_.SetShared(device, shared));
  found->second.shared_with = std::move(shared);
  UpdateOwners(found->second);
  return &found->second;
}

absl::StatusOr<std::set<std::string>> DeviceRegistry::SetTrust(const std::string& owner,
                                                               const OwnersChange& change) {
  std::set<std::string> trusted = owners_.TrustOf(owner);
  change(trusted);
  trusted.erase(owner);
  RETURN_IF_ERROR(CheckNumber(trusted));
  RETURN_IF_ERROR(store_.SetTrust(owner, trusted));
  owners_.SetTrust(owner, trusted);
  return trusted;
}

absl::Status DeviceRegistry::ForgetOwner(const std::string& owner) {
  for (auto& [id, device] : devices_) {
    std::set<std::string> shared = device.shared_with;
    if (shared.erase(owner) == 0) continue;
    RETURN_IF_ERROR(store_.SetShared(id, shared));
    device.shared_with = std::move(shared);
    UpdateOwners(device);
  }
  RETURN_IF_ERROR(store_.SetTrust(owner, DefaultTrust()));
  owners_.SetTrust(owner, DefaultTrust());
  return absl::OkStatus();
}

absl::Status DeviceRegistry::CheckKey(const std::string& key, const std::string& owner,
                                      const ServesOwner& serves, double now) const {
  const std::set<std::string> meant = owners_.Meant(owner, key);
  if (std::ranges::any_of(meant, [&](const std::string& id) { return serves(id, owner); }))
    return absl::OkStatus();
  if (!meant.empty())
    return absl::PermissionDeniedError(
        absl::StrCat("devices with the key \"", key, "\" take work of other owners only"));
  if (promised_.Has(key, now)) return absl::OkStatus();
  if (const std::optional<std::string> other = owners_.Distrusted(owner, key))
    return absl::PermissionDeniedError(
        absl::StrCat("the device with the key \"", key, "\" is that of ", *other, ", whose devices ", owner,
                     " does not trust: they see the models; attune fleet trust ", *other, " allows it"));
  return absl::NotFoundError(absl::StrCat("no device has the key \"", key, "\" that is ", owner,
                                          "'s or shared with ", owner, "; attune fleet list shows the keys"));
}

}  // namespace attune
