// The number of threads that can run at the same time: all defaults for numbers of threads come from here.
//
// Uses only the standard library, since the runtime includes it.
#ifndef ATTUNE_BASE_PROCESSORS_H_
#define ATTUNE_BASE_PROCESSORS_H_

#include <algorithm>
#include <optional>
#include <thread>

#include "base/cpu_limit.h"
#include "base/processor_set.h"

namespace attune {

// The number of threads for a process that may run on `allowed` processors, but use only the time of `limit`;
// at least 1. Rounds down: one thread more would make all of them stand still at the end of each period.
inline int ProcessorsWithin(int allowed, std::optional<double> limit) {
  const double most = std::max(1, allowed);
  return static_cast<int>(std::clamp(limit.value_or(most), 1.0, most));
}

// The number of processors that this thread may run on, within the limit of its control group, which is read
// once; at least 1, even if the system does not say.
inline int Processors() {
  static const std::optional<double> limit = CpuLimit();
  const int allowed = ProcessorSet::OfThisThread().count();
  return ProcessorsWithin(allowed > 0 ? allowed : static_cast<int>(std::thread::hardware_concurrency()),
                          limit);
}

}  // namespace attune

#endif  // ATTUNE_BASE_PROCESSORS_H_
