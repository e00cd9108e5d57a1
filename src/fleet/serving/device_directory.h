// The devices of a fleet as the services beside it see them: whose they are, and who may use them.
#ifndef ATTUNE_FLEET_SERVING_DEVICE_DIRECTORY_H_
#define ATTUNE_FLEET_SERVING_DEVICE_DIRECTORY_H_

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "fleet/identity/certificate.h"
#include "fleet/wire/fleet.pb.h"

namespace attune {

// Adds owners to some, and removes others.
using OwnersChange = std::function<void(std::set<std::string>& owners)>;

// Thread safe.
class DeviceDirectory {
 public:
  virtual ~DeviceDirectory() = default;

  // NotFound if the owner may use no device with the key and none is promised; PermissionDenied if they do
  // not trust the devices' owners, or if none of those takes their work.
  virtual absl::Status CheckKey(const std::string& key, const std::string& owner) const = 0;
  // The devices with this key, whosever they are; all if it is empty.
  virtual std::vector<fleet_proto::Device> Devices(std::string_view key) const = 0;
  // Returns the devices that the key means for this owner (device_owners.h); if it is empty, all of the
  // owner's and all shared with the owner, whether or not their owners are trusted.
  virtual std::vector<fleet_proto::Device> DevicesFor(const std::string& owner,
                                                      const std::string& key) const = 0;
  // Returns the ids of the devices that the key means.
  virtual std::set<std::string> Meant(const std::string& owner, const std::string& key) const = 0;
  // Whether the device belongs to this owner or is shared with them.
  virtual bool IsSeen(const std::string& device, const std::string& owner) const = 0;
  // Whether both sides consent that this owner's work goes to the device.
  virtual bool MayUse(const std::string& device, const std::string& owner) const = 0;
  // How many requests wait for each key.
  virtual std::map<std::string, int> Waiting() const = 0;

  // Changes the owners with whom its owner shares the device. NotFound if the owner has no such device. Work
  // that is not allowed any more ends at once, here and below. Returns the device.
  virtual absl::StatusOr<fleet_proto::Device> Share(const std::string& device, const std::string& owner,
                                                    const OwnersChange& change) = 0;
  // Changes whom the owner trusts besides themselves. Returns them.
  virtual absl::StatusOr<std::set<std::string>> SetTrust(const std::string& owner,
                                                         const OwnersChange& change) = 0;
  virtual std::set<std::string> TrustOf(const std::string& owner) const = 0;
  // Ends all sharing with the owner, and forgets whom they trust.
  virtual absl::Status ForgetOwner(const std::string& owner) = 0;
  // The device may join again, if its agent's certificate is still valid. NotFound if there is no such
  // device.
  virtual absl::Status Remove(const std::string& device) = 0;

  // Gives what this member asks for this priority among its owner's requests, whatever it says itself, until
  // ForgetPriority().
  virtual void SetPriority(const std::string& member, int priority) = 0;
  virtual void ForgetPriority(const std::string& member) = 0;
  // Closes the connections of members whom `refusal` refuses, with its reason.
  virtual void Close(const MemberRefusal& refusal) = 0;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVING_DEVICE_DIRECTORY_H_
