// Which processors of a device something is timed on.
#ifndef ATTUNE_DEVICE_PLACEMENT_H_
#define ATTUNE_DEVICE_PLACEMENT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/processor_set.h"
#include "device/device.h"

namespace attune {

// Which other processors stay free while something is timed on some.
enum class Isolation : uint8_t {
  kNone,
  kCore,    // the other hyper-threads of their cores, which share registers and execution units
  kCache,   // all that share a last-level cache with one of them
  kDevice,  // all others: memory and the processor's power are shared as well
};

struct Placement {
  std::vector<int> processors;  // ascending
  std::vector<int> isolated;    // those that stay free beside them, ascending

  bool operator==(const Placement&) const = default;
};

// `count` of the usable processors of which, and of the ones that they isolate, none is taken; nullopt where
// there are none. The last ones come first, since the first ones tend to serve interrupts, but one of each
// core comes before a second one. Where so many share a last-level cache on this device, all of the result
// do.
std::optional<Placement> ChoosePlacement(const DeviceInfo& device, int count, Isolation isolation,
                                         const ProcessorSet& taken);

}  // namespace attune

#endif  // ATTUNE_DEVICE_PLACEMENT_H_
