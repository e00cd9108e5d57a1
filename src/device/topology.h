// The processors of a machine, and what they share: work on one slows down those that share something with
// it.
#ifndef ATTUNE_DEVICE_TOPOLOGY_H_
#define ATTUNE_DEVICE_TOPOLOGY_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/processor_set.h"

namespace attune {

// A core or cache is identified by the number of its first processor.
struct Processor {
  int number = 0;
  int core = 0;   // the hyper-threads of one core
  int cache = 0;  // the processors that share the last-level cache

  bool operator==(const Processor&) const = default;
};

// The processors in a list such as "0-3,8,10-11", the system's format, ascending; "" has none. Fails for
// other texts and for numbers of kMaxProcessors or more.
absl::StatusOr<std::vector<int>> ParseProcessorList(std::string_view text);

// The online processors, ascending, from files as in /sys/devices/system/cpu. A processor about which the
// files say nothing has a core of its own, and shares its last-level cache with all other such processors.
// Empty if there are no files.
std::vector<Processor> ReadTopology(const std::string& folder);

// The processors that this thread may run on, ascending. Empty if the system does not say.
std::vector<int> AllowedProcessors();

}  // namespace attune

#endif  // ATTUNE_DEVICE_TOPOLOGY_H_
