#include "work/sched/resources.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "absl/strings/str_cat.h"

namespace attune {
namespace {

std::vector<int> Sorted(std::vector<int> numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::ranges::unique(numbers).begin(), numbers.end());
  return numbers;
}

// The processors that a device keeps for itself when it is held exclusively.
std::vector<int> QuietProcessors(const HostResources& host, const DeviceResource& device) {
  std::vector<int> quiet = device.processors;
  quiet.insert(quiet.end(), device.quiet.begin(), device.quiet.end());
  const auto cache = [&](int processor) { return host.caches[static_cast<size_t>(processor)]; };
  for (int p = 0; host.isolates_caches && !host.caches.empty() && p < host.processors; ++p) {
    if (std::ranges::any_of(device.processors, [&](int own) { return cache(own) == cache(p); }))
      quiet.push_back(p);
  }
  return Sorted(std::move(quiet));
}

// The first need of a device, since hosts with one are fewer than hosts with processors; else null.
template <typename Devices>
const ResourceNeed* DeviceNeed(const StageNeeds& needs, const Devices& devices) {
  const auto is_device = [&](const ResourceNeed& need) { return devices.contains(need.key); };
  const auto found = std::ranges::find_if(needs.needs, is_device);
  return found == needs.needs.end() ? nullptr : &*found;
}

// A key that no host has any more is no key.
void EraseFrom(std::map<std::string, std::set<int>>& by_device, const std::string& key, int host) {
  const auto hosts = by_device.find(key);
  if (hosts == by_device.end()) return;
  hosts->second.erase(host);
  if (hosts->second.empty()) by_device.erase(hosts);
}

}  // namespace

const std::pair<const std::string, int64_t>* FindSlot(const HostResources& host, const std::string& name) {
  auto slot = host.slots.find(name);
  if (slot == host.slots.end()) slot = host.slots.find(name.substr(0, name.find('/') + 1) + "*");
  return slot == host.slots.end() ? nullptr : &*slot;
}

std::string StageNeeds::Name() const {
  std::string name = absl::StrCat(memory_bytes);
  for (const ResourceNeed& need : needs)
    absl::StrAppend(&name, " ", need.exclusive ? "all " : "", need.amount, " ", need.key.size(), ":",
                    need.key);
  return name;
}

bool ResourceLedger::Host::DeviceIsFree(size_t device) const {
  const auto is_free = [&](int processor) { return holders[static_cast<size_t>(processor)] == 0; };
  return owners[device] == 0 && sharers[device] == 0 && std::ranges::all_of(quiet[device], is_free);
}

// Finds what one stage would hold on one host.
class ResourceLedger::Fitting {
 public:
  Fitting(const Host& host, bool if_free) : host_(host), if_free_(if_free) {}

  std::optional<Holding> Run(const StageNeeds& needs) {
    // Devices first, as they are choosy about processors.
    for (const bool devices : {true, false}) {
      for (const ResourceNeed& need : needs.needs) {
        if (IsDevice(need.key) == devices && !Add(need)) return std::nullopt;
      }
    }
    if (needs.memory_bytes > (if_free_ ? host_.all.memory_bytes : host_.free_memory)) return std::nullopt;
    holding_.memory_bytes = needs.memory_bytes;
    holding_.processors = Sorted(std::move(holding_.processors));
    holding_.granted = Sorted(std::move(holding_.granted));
    return std::move(holding_);
  }

 private:
  bool IsDevice(const std::string& key) const {
    return std::ranges::any_of(host_.all.devices,
                               [&](const DeviceResource& device) { return device.key == key; });
  }

  bool Add(const ResourceNeed& need) {
    if (IsDevice(need.key)) return need.exclusive ? AddDevice(need) : AddShared(need);
    return need.key == kProcessorsKey ? AddProcessors(need) : AddSlots(need);
  }

  bool IsOwn(int processor) const {
    return std::ranges::find(holding_.processors, processor) != holding_.processors.end();
  }
  bool IsUsable(int processor) const {
    return if_free_ || host_.holders[static_cast<size_t>(processor)] == 0;
  }

  bool AddDevice(const ResourceNeed& need) {
    for (size_t d = 0; d < host_.all.devices.size(); ++d) {
      const std::vector<int>& own = host_.all.devices[d].processors;
      if (host_.all.devices[d].key != need.key || need.amount > std::ssize(own)) continue;
      if (std::ranges::find(holding_.devices, d) != holding_.devices.end()) continue;
      if (!if_free_ && !host_.DeviceIsFree(d)) continue;
      if (std::ranges::any_of(host_.quiet[d], [&](int p) { return IsOwn(p); })) continue;
      holding_.devices.push_back(d);
      holding_.processors.insert(holding_.processors.end(), host_.quiet[d].begin(), host_.quiet[d].end());
      holding_.granted.insert(holding_.granted.end(), own.begin(), own.begin() + need.amount);
      return true;
    }
    return false;
  }

  bool AddShared(const ResourceNeed& need) {
    for (size_t d = 0; d < host_.all.devices.size(); ++d) {
      if (host_.all.devices[d].key != need.key || (!if_free_ && host_.owners[d] > 0)) continue;
      holding_.shared.push_back(d);
      return true;
    }
    return false;
  }

  // Free processors first, then those that no device wants, then the lowest numbers.
  bool AddProcessors(const ResourceNeed& need) {
    std::vector<int> order(static_cast<size_t>(host_.all.processors));
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](int p) {
      const auto wants = [&](const std::vector<int>& quiet) {
        return std::ranges::find(quiet, p) != quiet.end();
      };
      return std::tuple(host_.holders[static_cast<size_t>(p)], std::ranges::any_of(host_.quiet, wants), p);
    });
    std::erase_if(order, [&](int p) { return IsOwn(p) || host_.kept[static_cast<size_t>(p)]; });
    const int64_t all = std::ssize(order);
    std::erase_if(order, [&](int p) { return !IsUsable(p); });
    if (need.amount > std::ssize(order)) return false;
    if (need.exclusive && std::ssize(order) < all) return false;
    holding_.granted.insert(holding_.granted.end(), order.begin(), order.begin() + need.amount);
    if (!need.exclusive) order.resize(static_cast<size_t>(need.amount));
    holding_.processors.insert(holding_.processors.end(), order.begin(), order.end());
    return true;
  }

  bool AddSlots(const ResourceNeed& need) {
    const auto* slot = FindSlot(host_.all, need.key);
    if (slot == nullptr) return false;
    const auto& [name, all] = *slot;
    const int64_t wanted = need.exclusive ? all : need.amount;
    int64_t& held = holding_.slots[name];
    if (need.amount > all || held + wanted > (if_free_ ? all : host_.free_slots.at(name))) return false;
    held += wanted;
    return true;
  }

  const Host& host_;
  const bool if_free_;
  Holding holding_;
};

int ResourceLedger::AddHost(HostResources resources) {
  const int number = next_host_++;
  Host& host = hosts_[number];
  host.all = std::move(resources);
  host.holders.resize(static_cast<size_t>(host.all.processors));
  host.kept.resize(static_cast<size_t>(host.all.processors));
  for (const DeviceResource& device : host.all.devices) {
    for (const int processor : device.processors)
      host.kept[static_cast<size_t>(processor)] = host.all.keeps_device_processors;
  }
  host.owners.resize(host.all.devices.size());
  host.sharers.resize(host.all.devices.size());
  host.free_processors = static_cast<int>(std::ranges::count(host.kept, false));
  host.free_memory = host.all.memory_bytes;
  host.free_slots = host.all.slots;
  by_processors_.emplace(host.free_processors, number);
  for (const DeviceResource& device : host.all.devices) {
    host.quiet.push_back(QuietProcessors(host.all, device));
    by_device_[device.key].insert(number);
  }
  Index(number);
  return number;
}

void ResourceLedger::SetSlots(int number, std::map<std::string, int64_t> slots) {
  Host& host = hosts_.at(number);
  for (const auto& [name, amount] : slots) {
    const auto before = host.all.slots.find(name);
    host.free_slots[name] += amount - (before == host.all.slots.end() ? 0 : before->second);
  }
  // Of those that go, what is free goes at once, and what is held when it is released.
  for (const auto& [name, amount] : host.all.slots)
    if (!slots.contains(name)) host.free_slots[name] -= amount;
  host.all.slots = std::move(slots);
}

void ResourceLedger::RemoveHost(int host) {
  Unindex(host);
  Host& gone = hosts_.at(host);
  by_processors_.erase({static_cast<int>(std::ranges::count(gone.kept, false)), host});
  for (const DeviceResource& device : gone.all.devices) EraseFrom(by_device_, device.key, host);
  gone.is_there = false;
  if (gone.holdings == 0) hosts_.erase(host);
}

std::vector<int> ResourceLedger::Hosts() const {
  std::vector<int> numbers;
  for (const auto& [number, host] : hosts_)
    if (host.is_there) numbers.push_back(number);
  return numbers;
}

void ResourceLedger::Index(int number) {
  const Host& host = hosts_.at(number);
  if (!host.is_there) return;
  by_free_processors_.emplace(host.free_processors, number);
  for (size_t d = 0; d < host.all.devices.size(); ++d) {
    if (host.DeviceIsFree(d)) by_free_device_[host.all.devices[d].key].insert(number);
  }
}

void ResourceLedger::Unindex(int number) {
  const Host& host = hosts_.at(number);
  by_free_processors_.erase({host.free_processors, number});
  for (const DeviceResource& device : host.all.devices) EraseFrom(by_free_device_, device.key, number);
}

template <typename Fits>
void ResourceLedger::TryHosts(const StageNeeds& needs, bool if_free, const Fits& fits) const {
  if (const ResourceNeed* device = DeviceNeed(needs, by_device_); device != nullptr) {
    const auto& index = if_free || !device->exclusive ? by_device_ : by_free_device_;
    if (const auto hosts = index.find(device->key); hosts != index.end())
      std::ignore = std::ranges::find_if(hosts->second, fits);
    return;
  }
  int64_t processors = 0;
  for (const ResourceNeed& need : needs.needs) {
    if (need.key == kProcessorsKey) processors += need.amount;
  }
  const auto& index = if_free ? by_processors_ : by_free_processors_;
  const auto least = index.lower_bound({static_cast<int>(std::min<int64_t>(processors, INT32_MAX)), 0});
  std::ignore = std::find_if(least, index.end(), [&](const auto& entry) { return fits(entry.second); });
}

std::optional<Holding> ResourceLedger::Find(const StageNeeds& needs, int host, bool if_free) const {
  std::optional<Holding> holding;
  const auto fits = [&](int number) {
    const auto candidate = hosts_.find(number);
    const bool is_there = candidate != hosts_.end() && candidate->second.is_there;
    holding = is_there ? Fitting(candidate->second, if_free).Run(needs) : std::nullopt;
    if (holding) holding->host = number;
    return holding.has_value();
  };
  if (host >= 0) {
    fits(host);
  } else {
    TryHosts(needs, if_free, fits);
  }
  return holding;
}

std::optional<Holding> ResourceLedger::Take(const StageNeeds& needs, int host) {
  std::optional<Holding> holding = Find(needs, host, /*if_free=*/false);
  if (holding) Change(*holding, 1);
  return holding;
}

std::optional<Holding> ResourceLedger::TakeFreeParts(const StageNeeds& needs) {
  std::optional<Holding> holding = Find(needs, -1, /*if_free=*/true);
  if (!holding) return std::nullopt;
  const Host& on = hosts_.at(holding->host);
  std::erase_if(holding->processors, [&](int p) { return on.holders[static_cast<size_t>(p)] > 0; });
  std::erase_if(holding->devices, [&](size_t d) { return on.owners[d] + on.sharers[d] > 0; });
  std::erase_if(holding->shared, [&](size_t d) { return on.owners[d] > 0; });
  for (auto& [key, amount] : holding->slots) amount = std::min(amount, on.free_slots.at(key));
  holding->memory_bytes = std::min(holding->memory_bytes, on.free_memory);
  Change(*holding, 1);
  return holding;
}

void ResourceLedger::Release(const Holding& holding) { Change(holding, -1); }

int ResourceLedger::HostThatCouldGrant(const StageNeeds& needs, int host) const {
  const std::optional<Holding> holding = Find(needs, host, /*if_free=*/true);
  return holding ? holding->host : -1;
}

void ResourceLedger::Change(const Holding& holding, int sign) {
  Unindex(holding.host);
  Host& host = hosts_.at(holding.host);
  host.holdings += sign;
  for (const int p : holding.processors) host.holders[static_cast<size_t>(p)] += sign;
  for (const size_t d : holding.devices) host.owners[d] += sign;
  for (const size_t d : holding.shared) host.sharers[d] += sign;
  for (const auto& [key, amount] : holding.slots) host.free_slots.at(key) -= sign * amount;
  host.free_memory -= sign * holding.memory_bytes;
  host.free_processors -= sign * static_cast<int>(std::ranges::count_if(holding.processors, [&](int p) {
                            return !host.kept[static_cast<size_t>(p)];
                          }));
  Index(holding.host);
  if (!host.is_there && host.holdings == 0) hosts_.erase(holding.host);
}

}  // namespace attune
