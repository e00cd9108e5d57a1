// Gives devices to those who ask for them, for as long as both the holder and the device give signs of life.
//
// Problem: devices and their users are elsewhere, and either may vanish without a word, or come back and not
// know that it was given up. Idea: the holder of a device has a lease, which ends a fixed time after the last
// sign of life of the holder or of the device; each lease has a token that is larger than all before it, and
// messages under another token than the device's latest one are refused (fencing). Tokens carry an epoch that
// rises with every start of the server, so that they rise even if the server forgets the latest ones. Leases
// that it still knows after a restart are restored, and continue. Price: a device that was lost stands idle
// until its lease has ended. Source: Gray and Cheriton, Leases: an efficient fault-tolerant mechanism, SOSP
// 1989; Burrows, The Chubby lock service, OSDI 2006 (sequencers).
#ifndef ATTUNE_FLEET_LEASES_FLEET_LEASES_H_
#define ATTUNE_FLEET_LEASES_FLEET_LEASES_H_

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fleet/leases/device_owners.h"
#include "fleet/leases/expiry_queue.h"
#include "fleet/leases/request_queue.h"

namespace attune {

// The devices that can be given out, by their keys.
//
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

struct LeaseToken {
  int64_t epoch = 0, number = 0;

  auto operator<=>(const LeaseToken&) const = default;
};

struct DeviceGrant {
  int64_t request = 0;
  std::string device;
  LeaseToken token;
};

// A lease that ended because its holder or its device was silent.
struct LostLease {
  std::string device;
  LeaseToken token;
  bool device_was_silent = false;  // else the holder was
};

// Pure logic: it has neither a clock nor threads, and the same calls give the same answers. Times are seconds
// of one monotonic clock, and no call has an earlier one than a call before it. Not thread safe.
//
// Each call keeps the free devices and the ends of leases up to date, so that none looks at all devices or at
// all leases.
class FleetLeases {
 public:
  // `epoch` must be larger than that of all earlier objects for these devices. Nothing is granted before
  // `begin` + `lease_seconds`, since devices may still be held by leases of an earlier epoch; 0 for `begin`:
  // they are not. `owners` says what keys mean and who may use what, and must outlive this object; null:
  // a key means all devices that have it.
  FleetLeases(int64_t epoch, double lease_seconds, std::optional<double> begin = std::nullopt,
              const DeviceOwners* owners = nullptr)
      : epoch_(epoch),
        lease_seconds_(lease_seconds),
        grants_from_(begin ? *begin + lease_seconds : 0),
        owners_(owners) {}

  // The device is there (again), and can be asked for by these keys, for work of these owners (empty: of
  // all). A lease of it continues.
  void Join(const std::string& device, std::set<std::string> keys, double now,
            std::set<std::string> owners = {});
  // After a restart: the device, which need not have joined yet, is held by a lease of an earlier epoch.
  // Holder and device have the length of a lease from `now` to give signs of life. False, without any effect,
  // if the token is not of an earlier epoch, or is that of another device, or the device has a lease.
  bool Restore(const std::string& device, const LeaseToken& token, double now);
  // Stops giving the device out, until Resume(); a lease of it continues. `reason` is for people.
  void Drain(const std::string& device, const std::string& reason);
  void Resume(const std::string& device);
  // As if it had never been there. Its lease ends.
  void Remove(const std::string& device);
  void DeviceIsAlive(const std::string& device, double now);

  // Returns the number of the request.
  int64_t Ask(const DeviceRequest& request);
  // Whether the device may take work of this owner. True for one that has not joined yet, since the answer is
  // not known before.
  bool MayServe(const std::string& device, const std::string& owner) const;
  // How many requests wait for each key.
  std::map<std::string, int> Waiting() const;
  // The request is no longer waiting; does nothing if it was granted.
  void Withdraw(int64_t request);
  // The holder is alive. False if the lease has ended.
  bool HolderIsAlive(const LeaseToken& token, double now);
  // The lease ends. False if it had ended before.
  bool Release(const LeaseToken& token);

  // Ends the leases of which one side was silent for too long.
  std::vector<LostLease> EndSilent(double now);
  // Gives free devices to requests: the next one always to the owner who has the fewest devices now.
  std::vector<DeviceGrant> Grant(double now);

  // Whether what comes from this device under this token may be believed.
  bool IsCurrent(const std::string& device, const LeaseToken& token) const;

 private:
  struct Device {
    std::set<std::string> keys;
    std::set<std::string> owners;  // whose work it takes; empty: everyone's
    double seen = 0;
    std::optional<std::string> drained;  // why
    std::optional<LeaseToken> lease;
    std::string holder = {};  // the owner of the lease; empty if that is not known
    double holder_seen = 0;
  };

  // A device is silent from then on.
  bool IsSilent(double seen, double now) const { return now >= seen + lease_seconds_; }
  // Brings free_ and ends_ up to date with the device. To be called after each change of it.
  void Update(const std::string& device);
  // The first free device that will do; nothing if there is none.
  std::optional<std::string> Choose(const DeviceRequest& request) const;
  // Gives the device a lease with a new token.
  LeaseToken Give(const std::string& device, const std::string& owner, double now);

  const int64_t epoch_;
  const double lease_seconds_, grants_from_;
  const DeviceOwners* const owners_;
  int64_t last_token_ = 0;
  std::map<std::string, Device> devices_;
  std::map<LeaseToken, std::string> held_;  // the device of each lease
  RequestQueue queue_;
  FreeDevices free_;  // neither leased nor drained; those that are silent leave it with the next Grant()
  ExpiryQueue ends_;  // of leases, by device: when one side has been silent for too long
};

}  // namespace attune

#endif  // ATTUNE_FLEET_LEASES_FLEET_LEASES_H_
