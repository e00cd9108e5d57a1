#include "work/driver/stage_command.h"

#include <cstddef>
#include <vector>

namespace attune {

RunStage StageCommand(const LocalHost& host, const JobStage& stage, const Holding& holding,
                      bool has_remote_device, bool is_coordinated) {
  const std::vector<DeviceResource>& devices = host.resources.devices;
  const bool measures = !devices.empty() && stage.NeedsExclusively(devices.front().key);
  RunStage run;
  if (!is_coordinated) {
    run.processors = measures ? host.measuring : host.building;
    return run;
  }
  for (const int processor : holding.granted)
    run.processors.push_back(host.numbers[static_cast<size_t>(processor)]);
  // A stage that waits for a device elsewhere holds no processor here, which that device may be made of.
  const bool waits = run.processors.empty() && has_remote_device;
  // A stage that needs no processor must not run on the device's either.
  if (run.processors.empty()) run.processors = host.building;
  if (waits) return run;
  run.lease = measures ? StageLease::kExclusive : StageLease::kShared;
  run.isolation = host.isolation;
  return run;
}

}  // namespace attune
