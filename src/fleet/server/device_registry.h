// The devices that the fleet knows, whether or not they are there, and who may use them.
#ifndef ATTUNE_FLEET_SERVER_DEVICE_REGISTRY_H_
#define ATTUNE_FLEET_SERVER_DEVICE_REGISTRY_H_

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fleet/leases/device_owners.h"
#include "fleet/serving/device_directory.h"
#include "fleet/store/fleet_store.h"

namespace attune {

// Keys for which a member promises devices as soon as requests wait for them.
//
// A request for a key that no device has is refused, since it could wait for ever. An operator's program that
// brings devices when they are needed promises their keys, again and again; if it vanishes, its promises are
// forgotten soon after.
//
// Times are seconds of one monotonic clock. Not thread safe.
class PromisedKeys {
 public:
  static constexpr double kPromiseSeconds = 60;
  static constexpr int kMostKeys = 1024;

  // Counts for kPromiseSeconds. Fails if the key is empty or has more than 256 bytes, or if there are too
  // many.
  absl::Status Promise(const std::string& key, double now);
  bool Has(const std::string& key, double now) const;

 private:
  std::map<std::string, double> ends_;
};

// The registry and the store know the same: a change is written first, and has no effect if that fails. No
// device that joins has another's id among its keys, nor a key of another kind of device of its owner. The
// errors of the store are returned as they are. Times are seconds of one monotonic clock. Not thread safe.
class DeviceRegistry {
 public:
  using Devices = std::map<std::string, FleetDevice>;
  // Whether the device takes work of this owner, as far as its agent has said so.
  using ServesOwner = std::function<bool(const std::string& device, const std::string& owner)>;

  // The store must outlive it.
  explicit DeviceRegistry(FleetStore& store) : store_(store) {}
  DeviceRegistry(const DeviceRegistry&) = delete;
  DeviceRegistry& operator=(const DeviceRegistry&) = delete;

  // Reads what the store has. To be called once, before all other calls.
  absl::Status Load();

  // By their ids.
  const Devices& all() const { return devices_; }
  // Returns null if there is no such device.
  const FleetDevice* Find(const std::string& device) const;
  // Says whose each device is and who may use it, always as all() has it.
  const DeviceOwners& owners() const { return owners_; }

  // ResourceExhausted if the agent would have too many devices with these ids besides those that it has had.
  absl::Status CheckRoom(const std::string& agent, std::set<std::string> ids) const;
  // The device joins (again). One that is known keeps what its owner and its operator have decided, whatever
  // `device` says. Its fingerprint is one of its keys. Fails if it may not have such keys. Returns the
  // device, valid until Remove().
  absl::StatusOr<const FleetDevice*> Join(FleetDevice device, const std::string& fingerprint);
  // Without a reason, the device is given out again. NotFound if there is no such device.
  absl::Status SetDrained(const std::string& device, const std::optional<std::string>& reason);
  // NotFound if there is no such device.
  absl::Status Remove(const std::string& device);

  // As DeviceDirectory has them.
  absl::StatusOr<const FleetDevice*> Share(const std::string& device, const std::string& owner,
                                           const OwnersChange& change);
  absl::StatusOr<std::set<std::string>> SetTrust(const std::string& owner, const OwnersChange& change);
  absl::Status ForgetOwner(const std::string& owner);

  // Requests for the key may wait for the next minute, even if no device has it.
  absl::Status Promise(const std::string& key, double now) { return promised_.Promise(key, now); }
  // As DeviceDirectory::CheckKey().
  absl::Status CheckKey(const std::string& key, const std::string& owner, const ServesOwner& serves,
                        double now) const;

 private:
  absl::Status CheckKnown(const std::string& device) const;
  // Whether the owner may have such a device with such keys. One that was there before may stay.
  absl::Status CheckKeys(const FleetDevice& device, const std::string& fingerprint) const;
  // Brings owners_ up to date with the device.
  void UpdateOwners(const FleetDevice& device);

  FleetStore& store_;
  Devices devices_;
  DeviceOwners owners_;
  PromisedKeys promised_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVER_DEVICE_REGISTRY_H_
