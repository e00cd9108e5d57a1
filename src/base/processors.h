// The number of threads that can run at the same time.
#ifndef ATTUNE_BASE_PROCESSORS_H_
#define ATTUNE_BASE_PROCESSORS_H_

#include <algorithm>
#include <thread>

namespace attune {

// The number of processors of this machine that the process may use; at least 1, even if the system does
// not say.
inline int Processors() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

}  // namespace attune

#endif  // ATTUNE_BASE_PROCESSORS_H_
