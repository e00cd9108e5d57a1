// The devices elsewhere that stages of a schedule measure on: how stages ask for them, and which are in use.
#ifndef ATTUNE_WORK_DRIVER_REMOTE_DEVICES_H_
#define ATTUNE_WORK_DRIVER_REMOTE_DEVICES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/job.h"

namespace attune {

// The slots (HostResources) of a device that jobs ask for by any of these keys, as one that measures for one
// job at a time.
std::map<std::string, int64_t> RemoteDeviceSlots(const std::set<std::string>& keys);
// The needs of a stage that measures on a device with this key.
std::vector<ResourceNeed> RemoteDeviceNeeds(const std::string& key);

// A device that is gone while a job holds it stays a host of the scheduler until the job releases it. A
// device is held by at most one job, and a job holds at most one device. Devices are known by their numbers
// with the scheduler, jobs by theirs in the schedule. Not thread safe.
class RemoteDevices {
 public:
  void Hold(int device, size_t job) { holders_[device] = job; }
  // Returns the device that the job has held, if that is gone and is to be removed from the scheduler now.
  std::optional<int> Release(size_t job);
  // The device is gone. Returns whether it is to be removed from the scheduler now.
  [[nodiscard]] bool Remove(int device);

 private:
  std::map<int, size_t> holders_;  // jobs, by device
  std::set<int> gone_;             // devices that are in use
};

}  // namespace attune

#endif  // ATTUNE_WORK_DRIVER_REMOTE_DEVICES_H_
