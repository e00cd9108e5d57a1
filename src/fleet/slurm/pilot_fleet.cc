#include "fleet/slurm/pilot_fleet.h"

#include <map>

#include "absl/strings/match.h"
#include "base/status.h"

namespace attune {

namespace proto = fleet_proto;

absl::StatusOr<int> ServerPilotFleet::Waiting() {
  using Queue = std::map<std::string, int>;
  ASSIGN_OR_RETURN(const Queue queue, client_->Queue(options_.keys));
  int waiting = 0;
  for (const std::string& key : options_.keys)
    if (const auto requests = queue.find(key); requests != queue.end()) waiting += requests->second;
  return waiting;
}

absl::StatusOr<std::vector<PilotDevice>> ServerPilotFleet::Devices() {
  ASSIGN_OR_RETURN(const std::vector<proto::Device> devices, client_->Devices(""));
  return PilotDevices(devices, options_);
}

absl::Status ServerPilotFleet::Remove(const std::string& device) {
  proto::DeviceChange change;
  change.set_id(device);
  change.set_kind(proto::DeviceChange::REMOVE);
  const absl::Status removed = client_->Change(change).status();
  return absl::IsNotFound(removed) ? absl::OkStatus() : removed;
}

std::vector<PilotDevice> PilotDevices(const std::vector<proto::Device>& devices,
                                      const PilotFleetOptions& options) {
  std::vector<PilotDevice> found;
  for (const proto::Device& device : devices) {
    if (device.owner() != options.owner) continue;
    for (const std::string& key : device.keys()) {
      if (!absl::StartsWith(key, options.prefix)) continue;
      found.push_back({.id = device.id(),
                       .pilot = key,
                       .is_there = device.is_there(),
                       .is_held = !device.held_by().empty()});
      break;
    }
  }
  return found;
}

}  // namespace attune
