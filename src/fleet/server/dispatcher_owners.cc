// The dispatcher's decisions that owners of devices and of work may make.
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status.h"
#include "device/codec.h"
#include "fleet/server/dispatcher.h"

namespace attune {
namespace {

absl::Status CheckNumber(const std::set<std::string>& owners) {
  if (std::ssize(owners) <= kMaxOwners) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrCat("at most ", kMaxOwners, " owners can be named here; \"*\" shares a device with all"));
}

}  // namespace

absl::Status Dispatcher::CheckKeys(const FleetDevice& device, const std::string& fingerprint) const {
  const auto known = devices_.find(device.id);
  for (const std::string& key : device.keys) {
    if (key == device.id || key == fingerprint) continue;
    if (known != devices_.end() && known->second.keys.contains(key) &&
        known->second.keys.contains(fingerprint))
      continue;
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

absl::StatusOr<fleet_proto::Device> Dispatcher::Share(const std::string& device, const std::string& owner,
                                                      const OwnersChange& change) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = devices_.find(device);
  if (found == devices_.end() || found->second.owner != owner)
    return absl::NotFoundError(
        absl::StrCat(owner, " has no device ", Printable(device), "; its owner alone shares a device"));
  std::set<std::string> shared = found->second.shared_with;
  change(shared);
  shared.erase(owner);  // whose it is anyway
  RETURN_IF_ERROR(CheckNumber(shared));
  RETURN_IF_ERROR(store_.SetShared(device, shared));
  found->second.shared_with = shared;
  owners_.Put(device, owner, found->second.keys, shared);
  EndForbidden();
  Grant();
  return Describe(found->second);
}

absl::StatusOr<std::set<std::string>> Dispatcher::SetTrust(const std::string& owner,
                                                           const OwnersChange& change) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::set<std::string> trusted = owners_.TrustOf(owner);
  change(trusted);
  trusted.erase(owner);
  RETURN_IF_ERROR(CheckNumber(trusted));
  RETURN_IF_ERROR(store_.SetTrust(owner, trusted));
  owners_.SetTrust(owner, trusted);
  EndForbidden();
  Grant();
  return trusted;
}

std::set<std::string> Dispatcher::TrustOf(const std::string& owner) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return owners_.TrustOf(owner);
}

bool Dispatcher::IsSeen(const std::string& device, const std::string& owner) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return owners_.IsShared(device, owner);
}

bool Dispatcher::MayUse(const std::string& device, const std::string& owner) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return owners_.MayUse(device, owner);
}

absl::Status Dispatcher::ForgetOwner(const std::string& owner) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto& [id, device] : devices_) {
    std::set<std::string> shared = device.shared_with;
    if (shared.erase(owner) == 0) continue;
    RETURN_IF_ERROR(store_.SetShared(id, shared));
    device.shared_with = std::move(shared);
    owners_.Put(id, device.owner, device.keys, device.shared_with);
  }
  RETURN_IF_ERROR(store_.SetTrust(owner, DefaultTrust()));
  owners_.SetTrust(owner, DefaultTrust());
  EndForbidden();
  return absl::OkStatus();
}

void Dispatcher::EndForbidden() {
  std::vector<LeaseToken> forbidden;
  for (const auto& [token, lease] : held_)
    if (devices_.contains(lease.device) && !owners_.MayUse(lease.device, lease.owner))
      forbidden.push_back(token);
  for (const LeaseToken& token : forbidden)
    EndLease(token, absl::UnavailableError("the device may not be used for this work any more"));
  for (auto& [number, client] : clients_) {
    if (client.request == 0) continue;
    const absl::Status served = CheckServed(client.key, client.who.who.owner);
    if (served.ok()) continue;
    Withdraw(client);
    client.link->Close(served);
  }
}

}  // namespace attune
