// How much memory there is.
#ifndef ATTUNE_BASE_MEMORY_H_
#define ATTUNE_BASE_MEMORY_H_

#include <cstdint>

namespace attune {

// The bytes of memory that this process and all others share: the machine's, or what its container may have.
// INT64_MAX where the system does not say.
int64_t MemoryOfMachine();

}  // namespace attune

#endif  // ATTUNE_BASE_MEMORY_H_
