// The processors of a machine, and what they share: what runs on one slows down those beside it.
#ifndef ATTUNE_DEVICE_TOPOLOGY_H_
#define ATTUNE_DEVICE_TOPOLOGY_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/processor_set.h"

namespace attune {

// A group has the number of its first processor.
struct Processor {
  int number = 0;
  int core = 0;   // the hyper-threads of one core
  int cache = 0;  // those that share the last-level cache

  bool operator==(const Processor&) const = default;
};

// The processors of "0-3,8,10-11", as the system writes lists of them, ascending; "" has none. Fails for
// other texts and for numbers from kMaxProcessors on.
absl::StatusOr<std::vector<int>> ParseProcessorList(std::string_view text);

// Those that are online, ascending, from files as in /sys/devices/system/cpu. Where the files do not say what
// a processor shares, its core is its own, and the last-level cache that of all others about which they do
// not say it either. Empty where there are no files.
std::vector<Processor> ReadTopology(const std::string& folder);

// Those that this thread may run on, ascending. Empty where the system does not say.
std::vector<int> AllowedProcessors();

}  // namespace attune

#endif  // ATTUNE_DEVICE_TOPOLOGY_H_
