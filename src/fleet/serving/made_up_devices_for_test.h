// A directory of devices without a fleet behind it, for tests of services beside the fleet's.
#ifndef ATTUNE_FLEET_SERVING_MADE_UP_DEVICES_FOR_TEST_H_
#define ATTUNE_FLEET_SERVING_MADE_UP_DEVICES_FOR_TEST_H_

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "fleet/serving/device_directory.h"

namespace attune {

// Every owner may use every device. Not thread safe while devices change.
class MadeUpDevices final : public DeviceDirectory {
 public:
  // A device that is there, which the key means, with its DeviceInfo as EncodeDevice() writes it.
  void Add(const std::string& id, const std::string& key, const std::string& info = "") {
    fleet_proto::Device device;
    device.set_id(id);
    device.add_keys(key);
    device.set_is_there(true);
    device.set_info(info);
    devices_.push_back(std::move(device));
  }
  fleet_proto::Device& At(size_t index) { return devices_.at(index); }
  // The priorities of members that have one.
  const std::map<std::string, int>& priorities() const { return priorities_; }

  absl::Status CheckKey(const std::string& key, const std::string& owner) const override {
    if (!Meant(owner, key).empty()) return absl::OkStatus();
    return absl::NotFoundError(absl::StrCat("no device has the key \"", key, "\""));
  }
  std::vector<fleet_proto::Device> Devices(std::string_view key) const override {
    std::vector<fleet_proto::Device> found;
    for (const fleet_proto::Device& device : devices_)
      if (key.empty() || device.keys(0) == key) found.push_back(device);
    return found;
  }
  std::vector<fleet_proto::Device> DevicesFor(const std::string& /*owner*/,
                                              const std::string& key) const override {
    return Devices(key);
  }
  std::set<std::string> Meant(const std::string& /*owner*/, const std::string& key) const override {
    std::set<std::string> ids;
    for (const fleet_proto::Device& device : devices_)
      if (device.keys(0) == key) ids.insert(device.id());
    return ids;
  }
  bool IsSeen(const std::string& /*device*/, const std::string& /*owner*/) const override { return true; }
  bool MayUse(const std::string& /*device*/, const std::string& /*owner*/) const override { return true; }
  std::map<std::string, int> Waiting() const override { return {}; }

  absl::StatusOr<fleet_proto::Device> Share(const std::string& device, const std::string& /*owner*/,
                                            const OwnersChange& /*change*/) override {
    return absl::NotFoundError(device);
  }
  absl::StatusOr<std::set<std::string>> SetTrust(const std::string& /*owner*/,
                                                 const OwnersChange& /*change*/) override {
    return std::set<std::string>();
  }
  std::set<std::string> TrustOf(const std::string& /*owner*/) const override { return {}; }
  absl::Status ForgetOwner(const std::string& /*owner*/) override { return absl::OkStatus(); }
  absl::Status Remove(const std::string& device) override { return absl::NotFoundError(device); }

  void SetPriority(const std::string& member, int priority) override { priorities_[member] = priority; }
  void ForgetPriority(const std::string& member) override { priorities_.erase(member); }
  void Close(const MemberRefusal& /*refusal*/) override {}

 private:
  std::vector<fleet_proto::Device> devices_;
  std::map<std::string, int> priorities_;
};

}  // namespace attune

#endif  // ATTUNE_FLEET_SERVING_MADE_UP_DEVICES_FOR_TEST_H_
