#include "service/server/schedule_hosts.h"

#include "base/status.h"

namespace attune {

absl::Status ScheduleHosts::UpdateMachines() {
  const auto changed = hub_.TakeChangedMachines();
  if (!changed) return absl::OkStatus();
  const std::map<int64_t, RunnerMachine>& machines = *changed;
  for (auto known = hosts_.begin(); known != hosts_.end();) {
    if (machines.contains(known->first)) {
      ++known;
      continue;
    }
    const int host = known->second;
    known = hosts_.erase(known);
    RETURN_IF_ERROR(driver_.RemoveHost(host));
  }
  for (const auto& [connection, machine] : machines) {
    if (hosts_.contains(connection)) continue;
    const int host = driver_.AddHost(machine.host, machine.id);
    hosts_[connection] = host;
    hub_.SetHost(connection, host);
  }
  return absl::OkStatus();
}

void ScheduleHosts::UpdateDevices() {
  std::map<std::string, std::set<std::string>> there;
  for (const fleet_proto::Device& device : dispatcher_.Devices("")) {
    if (!device.is_there() || !device.drained().empty()) continue;
    there[device.id()].insert(device.keys().begin(), device.keys().end());
  }
  std::erase_if(devices_, [&](const auto& known) {
    const auto& [id, device] = known;
    const auto now = there.find(id);
    if (now != there.end() && now->second == device.keys) return false;
    driver_.RemoveDevice(device.number);
    return true;
  });
  for (const auto& [id, keys] : there) {
    if (!devices_.contains(id)) devices_[id] = {driver_.AddDevice(keys), keys};
  }
}

}  // namespace attune
