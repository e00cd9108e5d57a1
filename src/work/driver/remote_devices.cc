#include "work/driver/remote_devices.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "work/sched/resources.h"

namespace attune {
namespace {

// One slot for each key, and one for the job that measures there.
std::string KeySlot(const std::string& key) { return absl::StrCat("elsewhere/", key); }
constexpr char kWholeDevice[] = "device elsewhere";

}  // namespace

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
