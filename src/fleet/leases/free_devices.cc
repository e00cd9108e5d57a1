#include "fleet/leases/free_devices.h"

#include <optional>

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

}  // namespace attune
