// The resources of hosts, and who holds them.
//
// Problem: a stage asks for amounts ("four processors, and the device for itself"), machines consist of
// processors that share caches and of devices that are made of some of them, and a scheduler that serves a
// hundred thousand devices has no time to look at each. Idea: processors are held one by one, by number, so
// that isolation is a question of which ones are free; and hosts are found through indices of their free
// processors and of their free devices, which every change updates.
#ifndef ATTUNE_WORK_SCHED_RESOURCES_H_
#define ATTUNE_WORK_SCHED_RESOURCES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/job.h"

namespace attune {

// A device that stages measure on. Held exclusively, it holds its processors too, and keeps others quiet.
struct DeviceResource {
  std::string key;              // several devices may have the same key: a stage takes any of them
  std::vector<int> processors;  // of the host, by number
  // Other processors that must stay idle meanwhile, for example since they share cores with its own.
  std::vector<int> quiet = {};
};

// An amount of a slot that there is enough of for everyone.
inline constexpr int64_t kAnyAmount = int64_t{1} << 40;

// The resources of one machine.
struct HostResources {
  int processors = 0;  // numbered from 0
  // For each processor, the number of its last-level cache. Empty: each has its own.
  std::vector<int> caches = {};
  // Whether a device that is held exclusively also holds the processors that share a cache with its own.
  bool isolates_caches = false;
  // Whether the processors of devices are for stages that hold those alone, so that nothing else makes a
  // measurement wait.
  bool keeps_device_processors = false;
  int64_t memory_bytes = INT64_MAX;
  std::vector<DeviceResource> devices = {};
  // All else that there is a number of, such as licences. "owner/*" stands for all slots that begin with
  // "owner/" and are not named themselves.
  std::map<std::string, int64_t> slots = {};
};
// The slot of the host that a need of this name takes; null if there is none.
const std::pair<const std::string, int64_t>* FindSlot(const HostResources& host, const std::string& name);

// The resources that one stage needs, as JobStage has them.
struct StageNeeds {
  std::vector<ResourceNeed> needs;
  int64_t memory_bytes = 0;

  static StageNeeds Of(const JobStage& stage) { return {stage.needs, stage.memory_bytes}; }
  // A text that is the same for the same needs, in the same order.
  std::string Name() const;
};

// The resources that one stage holds.
struct Holding {
  int host = -1;
  std::vector<int> granted;     // the processors that the stage may run on
  std::vector<int> processors;  // the processors that it holds: the granted ones, and those kept quiet for it
  std::vector<size_t> devices;  // exclusively
  std::vector<size_t> shared;   // devices, together with others
  int64_t memory_bytes = 0;
  std::map<std::string, int64_t> slots;
};

// Deterministic: the same calls give the same holdings. Not thread safe.
class ResourceLedger {
 public:
  // Returns the host's number, which is never given to another one.
  int AddHost(HostResources resources);
  // The host has these slots from now on. Slots that are held must still be released.
  void SetSlots(int host, std::map<std::string, int64_t> slots);
  // From now on, nothing of the host is given out. Resources that are held there must still be released.
  void RemoveHost(int host);

  // Takes what the needs ask for, all on one host: on `host` if it is not negative, else on the one with the
  // fewest free processors that suffice. Nothing if no host has it free now.
  std::optional<Holding> Take(const StageNeeds& needs, int host = -1);
  // Takes the free parts of it on a host that could grant all if nothing were held, so that they stay free
  // for this stage. Nothing if there is no such host.
  std::optional<Holding> TakeFreeParts(const StageNeeds& needs);
  void Release(const Holding& holding);

  // A host that could grant it if nothing were held, or -1: `host`, if that is not negative.
  int HostThatCouldGrant(const StageNeeds& needs, int host = -1) const;

  // The number of the host that is added next.
  int next_host() const { return next_host_; }
  // The hosts that are there, in the order of their numbers.
  std::vector<int> Hosts() const;
  // One that is there, or on which something is held.
  const HostResources& host(int host) const { return hosts_.at(host).all; }

 private:
  struct Host {
    HostResources all;
    bool is_there = true;
    int64_t holdings = 0;                 // that were taken there and not released
    std::vector<int> holders;             // for each processor
    std::vector<int> owners, sharers;     // for each device: how many hold it exclusively, and with others
    std::vector<std::vector<int>> quiet;  // for each device: the processors that it holds when it is held
    std::vector<bool> kept;               // for each processor: whether it is for devices alone
    int free_processors = 0;              // without those that are kept
    int64_t free_memory = 0;
    std::map<std::string, int64_t> free_slots;

    bool DeviceIsFree(size_t device) const;
  };

  class Fitting;

  // The holding that satisfies the needs on `host`, or on the best host that fits; nothing if none does.
  // `if_free`: as if nothing were held, though free processors are preferred.
  std::optional<Holding> Find(const StageNeeds& needs, int host, bool if_free) const;
  // Calls `fits` for hosts that may fit, with such a device or enough processors, until it returns true; the
  // best one first.
  template <typename Fits>
  void TryHosts(const StageNeeds& needs, bool if_free, const Fits& fits) const;
  // Adds the holding to what is held, or takes it away.
  void Change(const Holding& holding, int sign);
  void Index(int number);
  void Unindex(int number);

  // One that has gone stays as long as something is held there.
  std::map<int, Host> hosts_;
  int next_host_ = 0;
  std::set<std::pair<int, int>> by_processors_, by_free_processors_;  // (number of them, host)
  std::map<std::string, std::set<int>> by_device_, by_free_device_;
};

}  // namespace attune

#endif  // ATTUNE_WORK_SCHED_RESOURCES_H_
