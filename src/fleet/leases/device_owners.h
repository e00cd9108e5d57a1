// Whose devices a key means, and whose work may go to them.
//
// Problem: owners choose keys without knowing each other, whoever measures sees the model with its weights,
// and whoever says what a device measured can say anything. Idea: a key belongs to its device's owner. Work
// goes to somebody else's device only if both consent: its owner has shared it with the asker, and the asker
// trusts its owner. A key that several have means the asker's own devices, else the server's, else those of
// the first owner by name; "ann/desk" means ann's. Price: nobody uses his own devices and others' by one key.
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
// The owner of the fleet's own work, such as calibrations. Every device takes it, whomever it trusts, since
// it runs nobody's code. The space keeps it from being anybody else's name.
inline constexpr char kFleetItself[] = "the fleet";
// The most owners with whom a device is shared, or whom an owner trusts; a message names no more either.
inline constexpr int kMaxOwners = 1024;

// With whom a device is shared until somebody says otherwise: the server's with all, others' with nobody.
std::set<std::string> DefaultSharing(const std::string& owner);
// Whose devices an owner trusts besides his own until he says otherwise: the server's.
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
  // The owner trusts the devices of these owners, and his own.
  void SetTrust(const std::string& owner, std::set<std::string> trusted);
  std::set<std::string> TrustOf(const std::string& owner) const;

  // Empty if the device is unknown.
  std::string OwnerOf(const std::string& device) const;
  // Whether the owner of the device lets this owner's work come to it. True for his own.
  bool IsShared(const std::string& device, const std::string& asker) const;
  // Whether both sides consent that this owner's work goes to the device. False if the device is unknown.
  bool MayUse(const std::string& device, const std::string& asker) const;
  // What the key means when this owner says it; nothing if there is no device that he may use. He may use one
  // of the devices at least.
  std::optional<Meaning> MeaningOf(const std::string& asker, const std::string& key) const;
  // Those devices of the meaning that he may use.
  std::set<std::string> Meant(const std::string& asker, const std::string& key) const;
  // An owner who has shared a device with this key with the asker, who does not trust him.
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
