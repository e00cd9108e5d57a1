#include "work/driver/local_host.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/job.h"
#include "base/memory.h"
#include "base/processors.h"
#include "base/status.h"
#include "device/pin_tree.h"
#include "device/shared_core.h"

namespace attune {
namespace {

constexpr std::string_view kWaysOut =
    "give --isolation device, so that nothing is built while something is measured, --isolation none to "
    "measure nevertheless, or fewer --building processors";

bool Contains(const std::vector<int>& numbers, int number) {
  return std::ranges::find(numbers, number) != numbers.end();
}

// The processors that isolation keeps quiet besides those that measure.
absl::StatusOr<std::vector<int>> Isolated(const DeviceInfo& device, const std::vector<int>& measuring,
                                          Isolation isolation) {
  DeviceInfo own = device;
  own.usable = measuring;
  const auto placement = ChoosePlacement(own, static_cast<int>(measuring.size()), isolation, ProcessorSet());
  if (!placement.has_value()) return InternalError("a device has no room for itself");
  return placement->isolated;
}

absl::Status CheckCores(const LocalHost& host) {
  // Processors that may compute while something is measured.
  const DeviceResource& device = host.resources.devices.front();
  std::vector<int> others;
  for (int p = 0; p < host.resources.processors; ++p) {
    if (!Contains(device.processors, p) && !Contains(device.quiet, p))
      others.push_back(host.numbers[static_cast<size_t>(p)]);
  }
  for (const int measured : host.measuring) {
    // All at once first, since there may be many.
    if (SpeedBeside(measured, others) >= kSharedCoreSpeed) continue;
    for (const int other : others) {
      const double speed = SpeedBeside(measured, {&other, 1});
      if (speed >= kSharedCoreSpeed) continue;
      return absl::FailedPreconditionError(
          absl::StrFormat("processors %d and %d share a core: beside the other, each runs at %.0f %% of its "
                          "speed, so that building would distort what is measured; %s",
                          measured, other, 100 * speed, kWaysOut));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<LocalHost> DescribeHost(const DeviceInfo& device, const LocalHostOptions& options) {
  const int usable = static_cast<int>(device.usable.size());
  if (options.measuring < 1 || options.measuring > usable || options.building < 0 ||
      options.building > usable)
    return InvalidInput("this machine has ", usable, " processors; ", options.measuring, " that measure and ",
                        options.building > 0 ? absl::StrCat(options.building) : "some",
                        " that build are too many");
  LocalHost host;
  host.device = device;
  host.isolation = options.isolation;
  // The device's, as a lease would choose them.
  const auto placement = ChoosePlacement(device, options.measuring, options.isolation, ProcessorSet());
  if (!placement.has_value()) return InvalidInput("no ", options.measuring, " processors can be isolated");
  host.measuring = placement->processors;
  for (const bool measures : {false, true}) {
    std::ranges::copy_if(device.usable, std::back_inserter(host.building),
                         [&](int number) { return Contains(host.measuring, number) == measures; });
  }
  const int others = usable - options.measuring;
  const int building = options.building > 0 ? options.building : std::max(others, 1);
  host.building.resize(static_cast<size_t>(building));
  host.numbers = host.building;
  std::ranges::copy_if(host.measuring, std::back_inserter(host.numbers),
                       [&](int number) { return !Contains(host.building, number); });

  HostResources& resources = host.resources;
  resources.processors = static_cast<int>(host.numbers.size());
  resources.memory_bytes = MemoryOfMachine();
  resources.keeps_device_processors = building <= others;
  ASSIGN_OR_RETURN(const std::vector<int> isolated, Isolated(device, host.measuring, options.isolation));
  DeviceResource own = {.key = DeviceKey(device.fingerprint), .processors = {}, .quiet = {}};
  for (int p = 0; p < resources.processors; ++p) {
    const int number = host.numbers[static_cast<size_t>(p)];
    if (Contains(host.measuring, number)) own.processors.push_back(p);
    if (Contains(isolated, number)) own.quiet.push_back(p);
  }
  resources.devices.push_back(std::move(own));
  return host;
}

void StayOffDevice(const LocalHost& host) { PinProcessTree(host.building); }

absl::StatusOr<LocalHost> DescribeLocalHost(const LocalHostOptions& options) {
  ASSIGN_OR_RETURN(const DeviceInfo device, HostDevice());
  LocalHostOptions within = options;
  // A control group may allow less time than that of all processors.
  const int processors = Processors();
  if (options.building == 0 && processors < std::ssize(device.usable))
    within.building = std::max(processors - options.measuring, 1);
  ASSIGN_OR_RETURN(LocalHost host, DescribeHost(device, within));
  const bool shares = options.isolation == Isolation::kNone || options.isolation == Isolation::kDevice;
  if (!shares) RETURN_IF_ERROR(CheckCores(host));
  return host;
}

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
