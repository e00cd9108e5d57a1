#include "work/driver/host_table.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "work/sched/resources.h"

namespace attune {
namespace {

bool HasSlots(const HostResources& host, const JobGroup& group) {
  return std::ranges::all_of(group, [&](const std::string& slot) { return FindSlot(host, slot) != nullptr; });
}

// Returns the count of a key that the map may not have.
template <typename Key>
int64_t CountOf(const std::map<Key, int64_t>& counts, const Key& key) {
  const auto found = counts.find(key);
  return found == counts.end() ? 0 : found->second;
}

// One slot for each key, and one for the job that measures there.
std::string KeySlot(const std::string& key) { return absl::StrCat("elsewhere/", key); }
constexpr char kWholeDevice[] = "device elsewhere";

}  // namespace

std::string RunnerSlot(int host) { return absl::StrCat("runner/", host); }

void HostTable::Add(int number, LocalHost host, const std::string& name) {
  hosts_[number] = {std::move(host), name};
}

std::string HostTable::FingerprintOf(std::optional<int> number) const {
  if (number) return hosts_.at(*number).host.device.fingerprint;
  return hosts_.size() == 1 ? hosts_.begin()->second.host.device.fingerprint : "";
}

int64_t HostTable::RoomFor(const JobGroup& group, int64_t jobs_at_once, int64_t num_groups) const {
  int64_t own = 0, shared = 0;
  for (const auto& [number, host] : hosts_) {
    const HostResources& resources = host.host.resources;
    if (!HasSlots(resources, group)) continue;
    const bool is_own =
        std::ranges::all_of(group, [&](const std::string& slot) { return resources.slots.contains(slot); });
    ++(is_own ? own : shared);
  }
  // Without any, all are told what they wait for.
  if (own + shared == 0) return jobs_at_once;
  // Groups share the memory of hosts that several may be on.
  constexpr int64_t kLeast = 2;
  const int64_t part = jobs_at_once * shared / std::max<int64_t>(num_groups, 1);
  return jobs_at_once * own + (shared > 0 ? std::max(part, kLeast) : 0);
}

std::optional<int> HostTable::LeastBusy(const JobGroup& group, const std::map<int, int64_t>& jobs,
                                        const std::map<std::string, int64_t>& asking) const {
  std::map<int, int64_t> busy;
  for (const auto& [number, host] : hosts_) {
    if (HasSlots(host.host.resources, group))
      busy[number] = CountOf(jobs, number) + CountOf(asking, RunnerSlot(number));
  }
  if (busy.size() < 2) return std::nullopt;
  return std::ranges::min_element(busy, {}, [](const auto& entry) { return entry.second; })->first;
}

std::map<std::string, int64_t> RemoteDeviceSlots(const std::set<std::string>& keys) {
  std::map<std::string, int64_t> slots = {{kWholeDevice, 1}};
  for (const std::string& key : keys) slots[KeySlot(key)] = kAnyAmount;
  return slots;
}

std::vector<ResourceNeed> RemoteDeviceNeeds(const std::string& key) {
  return {{.key = KeySlot(key)}, {.key = kWholeDevice}};
}

std::optional<int> RemoteDevices::Release(size_t job) {
  const auto found = std::ranges::find(holders_, job, [](const auto& entry) { return entry.second; });
  if (found == holders_.end()) return std::nullopt;
  const int device = found->first;
  holders_.erase(found);
  if (gone_.erase(device) == 0) return std::nullopt;
  return device;
}

bool RemoteDevices::Remove(int device) {
  if (!holders_.contains(device)) return true;
  gone_.insert(device);
  return false;
}

}  // namespace attune
