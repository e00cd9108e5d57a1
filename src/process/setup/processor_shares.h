// Divides a machine between what measures on it and what computes on it.
#ifndef ATTUNE_PROCESS_SETUP_PROCESSOR_SHARES_H_
#define ATTUNE_PROCESS_SETUP_PROCESSOR_SHARES_H_

#include <span>
#include <vector>

#include "device/topology.h"

namespace attune {

// Numbers of processors, ascending.
struct ProcessorShares {
  std::vector<int> measuring, computing;
};

// A quarter of the cores, and at least one, computes; the rest measures. No core is on both sides, since
// hyper-threads disturb each other; a single core is.
ProcessorShares ShareProcessors(std::span<const Processor> processors);
// The shares of this machine, of the processors that this process may use.
ProcessorShares ShareThisMachine();

}  // namespace attune

#endif  // ATTUNE_PROCESS_SETUP_PROCESSOR_SHARES_H_
