// Shared by the readers of files of numbers.
#ifndef ATTUNE_IO_ARRAY_FILE_H_
#define ATTUNE_IO_ARRAY_FILE_H_

#include <cstdint>

namespace attune {

// A longer one is refused instead of read: no input of a network that we know has a tenth of it.
inline constexpr int64_t kMaxArrayFileBytes = int64_t{1} << 32;

}  // namespace attune

#endif  // ATTUNE_IO_ARRAY_FILE_H_
