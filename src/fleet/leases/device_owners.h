// Whose devices a key means, and whose work may go to them.
//
// Problem: owners choose keys without knowing each other, the device that measures sees the model with its
// weights, and its owner can report any results. Idea: a key belongs to its device's owner. Work goes to
// another owner's device only if both consent: its owner has shared it with the asker, and the asker trusts
// its owner. A key that several have means the asker's own devices, else the server's, else those of the
// first owner by name; "ann/desk" means ann's. Price: no owner uses own devices and others' by one key.
#ifndef ATTUNE_FLEET_LEASES_DEVICE_OWNERS_H_
#define ATTUNE_FLEET_LEASES_DEVICE_OWNERS_H_

#include <map>
#include <optional>
#include <set>
#include <string>

namespace attune {

// The owner of the server's own devices and runners, whose state the server's operator has anyway.
inline constexpr char kServersOwner[] = "server";
// Stands for all owners among those with whom a device is shared.
inline constexpr char kEveryOwner[] = "*";
// The owner of the fleet's own work, such as calibrations. Every device takes it, whatever its trust, since
// it runs only the fleet's code. The space keeps it from being another owner's name.
inline constexpr char kFleetItself[] = "the fleet";
// The most owners with whom a device is shared, or whom an owner trusts; a message names no more either.
inline constexpr int kMaxOwners = 1024;

// The owners with whom a device is shared until its owner changes it: the server's with all, others' with
// none.
std::set<std::string> DefaultSharing(const std::string& owner);
// The owners that an owner trusts for devices, besides itself, until it changes that: the server.
std::set<std::string> DefaultTrust();

// Devices are known by their ids. Not thread safe.
class DeviceOwners {
 public:
  // The devices of this owner with this key.
  struct Meaning {
    std::string owner, key;
  };

  // The device is known from now on, or has changed. Its id is a key, too. `shared_with` may hold
  // kEveryOwner.
  void Put(const std::string& device, const std::string& owner, const std::set<std::string>& keys,
           const std::set<std::string>& shared_with);
  void Remove(const std::string& device);
  // Makes the owner trust the devices of these owners, besides its own.
  void SetTrust(const std::string& owner, std::set<std::string> trusted);
  std::set<std::string> TrustOf(const std::string& owner) const;

  // Empty if the device is unknown.
  std::string OwnerOf(const std::string& device) const;
  // Whether the owner of the device lets this owner's work come to it. True for the device's owner.
  bool IsShared(const std::string& device, const std::string& asker) const;
  // Whether both sides consent that this owner's work goes to the device. False if the device is unknown.
  bool MayUse(const std::string& device, const std::string& asker) const;
  // The meaning of the key for this owner; nothing if it means no device that the owner may use. The owner
  // may use at least one of the devices.
  std::optional<Meaning> MeaningOf(const std::string& asker, const std::string& key) const;
  // The devices of the meaning that the owner may use.
  std::set<std::string> Meant(const std::string& asker, const std::string& key) const;
  // An owner that has shared a device with this key with the asker, and that the asker does not trust.
  std::optional<std::string> Distrusted(const std::string& asker, const std::string& key) const;
  // Another device of the same owner that has the key; nothing if there is none.
  std::optional<std::string> OtherWithKey(const std::string& owner, const std::string& key,
                                          const std::string& device) const;

 private:
  struct Device {
    std::string owner;
    std::set<std::string> keys, shared_with;
  };

  // The devices with the key by owner; null if there are none.
  using ByOwner = std::map<std::string, std::set<std::string>>;
  const ByOwner* WithKey(const std::string& key) const;
  const std::set<std::string>* WithKey(const std::string& owner, const std::string& key) const;
  // Whether the asker may use one of those.
  bool AnyUsable(const std::string& owner, const std::string& key, const std::string& asker) const;

  std::map<std::string, Device> devices_;
  std::map<std::string, ByOwner> by_key_;
  std::map<std::string, std::set<std::string>> trust_;  // of owners who have said so
};

}  // namespace attune

#endif  // ATTUNE_FLEET_LEASES_DEVICE_OWNERS_H_
