// The devices that can be given out, by their keys.
#ifndef ATTUNE_FLEET_LEASES_FREE_DEVICES_H_
#define ATTUNE_FLEET_LEASES_FREE_DEVICES_H_

#include <map>
#include <set>
#include <string>

#include "fleet/leases/expiry_queue.h"

namespace attune {

// A device is found under each of its keys, until it is erased or expires. Not thread safe.
class FreeDevices {
 public:
  // Adds the device, or changes it.
  void Put(const std::string& device, const std::set<std::string>& keys, double expiry);
  // Does nothing if the device is not there.
  void Erase(const std::string& device);
  // Erases the devices that expire at `now` or before.
  void EraseExpired(double now);

  bool empty() const { return keys_.empty(); }
  // Returns the names of the devices with this key.
  const std::set<std::string>& WithKey(const std::string& key) const;

 private:
  // Removes the device from its keys.
  void EraseKeys(const std::string& device);

  std::map<std::string, std::set<std::string>> keys_;    // of each device
  std::map<std::string, std::set<std::string>> by_key_;  // devices; no key is without any
  ExpiryQueue expiries_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_LEASES_FREE_DEVICES_H_
