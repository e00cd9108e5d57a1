// Chooses the processors of a device to time on.
#ifndef ATTUNE_DEVICE_PLACEMENT_H_
#define ATTUNE_DEVICE_PLACEMENT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/processor_set.h"
#include "device/device.h"

namespace attune {

// Which other processors stay free while some are timed on.
enum class Isolation : uint8_t {
  kNone,
  kCore,    // the other hyper-threads of their cores, which share registers and execution units
  kCache,   // all that share a last-level cache with one of them
  kDevice,  // all others: memory and the processor's power are shared as well
};

struct Placement {
  std::vector<int> processors;  // ascending
  std::vector<int> isolated;    // processors that stay free beside them, ascending

  bool operator==(const Placement&) const = default;
};

// Chooses `count` usable processors such that neither they nor the processors that they isolate are taken;
// nullopt if there are none. Prefers processors with high numbers, since the low ones tend to serve
// interrupts, but takes one of each core before a second one. If `count` processors can share a last-level
// cache on this device, those chosen do.
std::optional<Placement> ChoosePlacement(const DeviceInfo& device, int count, Isolation isolation,
                                         const ProcessorSet& taken);

}  // namespace attune

#endif  // ATTUNE_DEVICE_PLACEMENT_H_
