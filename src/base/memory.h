// How much memory the machine has.
#ifndef ATTUNE_BASE_MEMORY_H_
#define ATTUNE_BASE_MEMORY_H_

#include <cstdint>

namespace attune {

// The bytes of memory that this process shares with all others: the memory of the machine, or the limit of
// its container. INT64_MAX if the system does not say.
int64_t MemoryOfMachine();

}  // namespace attune

#endif  // ATTUNE_BASE_MEMORY_H_
