// The hosts on which runners of a schedule's jobs can be, and the devices elsewhere that their stages measure
// on.
#ifndef ATTUNE_WORK_DRIVER_HOST_TABLE_H_
#define ATTUNE_WORK_DRIVER_HOST_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/job.h"
#include "work/admission/job_admission.h"
#include "work/driver/local_host.h"

namespace attune {

// The slot (HostResources) of a host that its runners' stages need, so that they stay on it.
std::string RunnerSlot(int host);

// Hosts are known by their numbers with the scheduler. A device elsewhere is a host of the scheduler and no
// host of this table. Not thread safe.
class HostTable {
 public:
  struct Host {
    LocalHost host;
    std::string name;  // for people
  };

  void Add(int number, LocalHost host, const std::string& name);
  void Remove(int number) { hosts_.erase(number); }

  bool contains(int number) const { return hosts_.contains(number); }
  const Host& at(int number) const { return hosts_.at(number); }
  int64_t size() const { return std::ssize(hosts_); }

  // Returns the fingerprint of the host; without one, that of the only host there is, and nothing if there
  // are others.
  std::string FingerprintOf(std::optional<int> number) const;
  // Returns how many jobs of the group may have begun, if `jobs_at_once` may for each host. `num_groups`
  // share the hosts that several may be on.
  int64_t RoomFor(const JobGroup& group, int64_t jobs_at_once, int64_t num_groups) const;
  // Returns the host with the fewest jobs of those that a job of the group can be on; nothing if there is no
  // choice. `jobs`: by host, how many have a runner there. `asking`: by slot, how many ask for it.
  std::optional<int> LeastBusy(const JobGroup& group, const std::map<int, int64_t>& jobs,
                               const std::map<std::string, int64_t>& asking) const;

 private:
  std::map<int, Host> hosts_;
};

// The slots (HostResources) of a device elsewhere that jobs ask for by any of these keys, as one that
// measures for one job at a time.
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

#endif  // ATTUNE_WORK_DRIVER_HOST_TABLE_H_
