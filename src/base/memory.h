// How much memory the machine has.
#ifndef ATTUNE_BASE_MEMORY_H_
#define ATTUNE_BASE_MEMORY_H_

#include <cstdint>
#include <optional>
#include <string>

namespace attune {

// The bytes of memory that this process shares with all others: the memory of the machine, or the limit of
// its container. INT64_MAX if the system does not say.
int64_t MemoryOfMachine();

// The least limit of the control groups around this process, in bytes; nullopt if there is none. Version 1
// has a limit of about 2^63 where none is set. `root` is the folder that contains the system's /proc and
// /sys.
std::optional<int64_t> MemoryLimit(const std::string& root = "");

}  // namespace attune

#endif  // ATTUNE_BASE_MEMORY_H_
